import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import type { TProperties } from 'typebox';
import { type Moment, systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { optional, Strict } from '../core/schemas.ts';
import { joinWords, nearest } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import type { Tables } from '../database/tables.ts';
import { readQuery } from '../http/request/validation.ts';
import { type FormatName, formatNames } from '../lists/formats.ts';
import type { List } from '../lists/list.ts';
import { exportList } from '../lists/send-list.ts';
import { groupList } from '../resources/groups/queries.ts';
import { groupFilters } from '../resources/groups/schema.ts';
import { issueList } from '../resources/issues/queries.ts';
import { issueFilters, projectIssueFilters } from '../resources/issues/schema.ts';
import { personnelList } from '../resources/personnel/queries.ts';
import { personnelFilters } from '../resources/personnel/schema.ts';
import { getProject, projectList, resolveProjects } from '../resources/projects/queries.ts';
import { projectFilters } from '../resources/projects/schema.ts';
import { riskList } from '../resources/risks/register.ts';
import { projectRiskFilters, riskFilters } from '../resources/risks/schema.ts';
import { taskList } from '../resources/tasks/queries.ts';
import { projectTaskFilters, taskFilters } from '../resources/tasks/schema.ts';

export type ExportOptions = { project?: string; format?: string; output?: string };

type Exportable = {
  filters: TProperties;
  /** Filters of the same list in one project, where there is such a list. */
  projectFilters?: TProperties;
  list(filters: never, moment: Moment): List;
};

const exportables: Record<string, Exportable> = {
  personnel: { filters: personnelFilters, list: personnelList },
  groups: { filters: groupFilters, list: (filters: object) => groupList({ ...filters, include: 'members' }) },
  projects: { filters: projectFilters, list: projectList },
  risks: {
    filters: riskFilters,
    projectFilters: projectRiskFilters,
    list: (filters, moment) => riskList({ filters, moment }, 'rank'),
  },
  issues: { filters: issueFilters, projectFilters: projectIssueFilters, list: issueList },
  tasks: { filters: taskFilters, projectFilters: projectTaskFilters, list: taskList },
};

/** Writes a list to a file or to the terminal, just as the API gives it. Gives the number of rows. */
export async function exportCommand(
  database: Database,
  what: string,
  given: string[],
  options: ExportOptions,
  onProgress: (rows: number) => void,
): Promise<number> {
  const moment = systemClock();
  const exportable = exportableOf(what);
  const format = readFormat(options);
  const snapshot = await database.snapshot('stream');
  try {
    const list = exportable.list(
      await readFilters(snapshot.db, what, exportable, given, options, moment),
      moment,
    );
    let rows = 0;
    const content = await exportList(snapshot, list, format, (written) => {
      rows = written;
      onProgress(rows);
    });
    await write(content, options.output);
    return rows;
  } finally {
    await snapshot.end();
  }
}

function exportableOf(what: string): Exportable {
  const exportable = exportables[what];
  if (exportable) return exportable;
  const known = Object.keys(exportables);
  const meant = nearest(what, known);
  throw new UsageError(
    `“${what}” cannot be exported${meant ? `; did you mean ${meant}?` : ''}. There are ${joinWords(known)}.`,
  );
}

/** By its name, or by how the file is called. */
function readFormat({ format, output }: ExportOptions): FormatName {
  const ending = output?.split('.').at(-1)?.toLowerCase();
  const named = format ?? formatNames.find((name) => name === ending) ?? 'csv';
  const known = formatNames.find((name) => name === named);
  if (!known) throw new UsageError(`--format is “${named}” but must be one of ${joinWords(formatNames)}.`);
  return known;
}

/** `status=active` and the like, checked as the API checks them. */
async function readFilters(
  db: Kysely<Tables>,
  what: string,
  { filters, projectFilters }: Exportable,
  given: string[],
  { project }: ExportOptions,
  moment: Moment,
): Promise<never> {
  if (project && !projectFilters)
    throw new UsageError(`--project does not go with ${what}, which belong to none.`);
  const query: Record<string, string[]> = {};
  for (const pair of given) {
    const [name = '', value] = pair.split(/=(.*)/s);
    if (value === undefined) throw new UsageError(`“${pair}” is no filter; write it as ${name}=value.`);
    query[name] = [...(query[name] ?? []), value];
  }
  const schema = Strict(optional(project ? (projectFilters ?? {}) : filters));
  const read = readQuery(schema, query) as { project?: string[] };
  if (project) return { ...read, project: [(await getProject(db, project, moment)).id] } as never;
  return { ...read, ...(read.project && { project: await resolveProjects(db, read.project) }) } as never;
}

/** A file is there whole or not at all. */
async function write(content: Readable, output: string | undefined): Promise<void> {
  if (output === undefined || output === '-') return pipeline(content, process.stdout, { end: false });
  const unfinished = `${output}.part`;
  try {
    await pipeline(content, createWriteStream(unfinished));
    await rename(unfinished, output);
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof Error && 'syscall' in error) {
      throw new UsageError(`The file ${output} cannot be written (${error.message}).`, { cause: error });
    }
    throw error;
  }
}
