import { extname } from 'node:path';
import type { Kysely } from 'kysely';
import type { TProperties } from 'typebox';
import type { Clock, Moment } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { optional, Strict } from '../core/schemas.ts';
import { joinWords } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { readQuery } from '../http/request/validation.ts';
import { type FormatName, formatNames } from '../lists/formats.ts';
import type { List } from '../lists/list.ts';
import { exportList } from '../lists/send-list.ts';
import { resolveFilters } from '../resources/filters.ts';
import { groupList } from '../resources/groups/queries.ts';
import { groupFilters } from '../resources/groups/schema.ts';
import { issueList } from '../resources/issues/queries.ts';
import { issueFilters, projectIssueFilters } from '../resources/issues/schema.ts';
import { personnelList } from '../resources/personnel/queries.ts';
import { personnelFilters } from '../resources/personnel/schema.ts';
import { getProject, projectList } from '../resources/projects/queries.ts';
import { projectFilters } from '../resources/projects/schema.ts';
import { riskList } from '../resources/risks/register.ts';
import { projectRiskFilters, riskFilters } from '../resources/risks/schema.ts';
import { taskList } from '../resources/tasks/queries.ts';
import { projectTaskFilters, taskFilters } from '../resources/tasks/schema.ts';
import type { Tables } from '../store/tables.ts';
import { findNamed } from './names.ts';
import { writeOutput } from './output.ts';

export type ExportOptions = { project?: string; format?: string; output?: string };

type Exportable = {
  filters: TProperties;
  /** The filters of the list in one project; only for resources that belong to a project. */
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

/** Writes a list to a file or standard output, in the formats of the API. Returns the number of rows. */
export async function exportCommand(
  database: Database,
  clock: Clock,
  requested: string,
  filterArguments: string[],
  options: ExportOptions,
  onProgress: (rows: number) => void,
): Promise<number> {
  const moment = clock();
  const [what, exportable] = findNamed(exportables, requested, 'exported');
  const format = readFormat(options);
  const snapshot = await database.snapshot('stream');
  try {
    const list = exportable.list(
      await readFilters(snapshot.db, what, exportable, filterArguments, options, moment),
      moment,
    );
    let rows = 0;
    const content = await exportList(snapshot, list, format, (written) => {
      rows = written;
      onProgress(rows);
    });
    await writeOutput(content, options.output);
    return rows;
  } finally {
    await snapshot.end();
  }
}

/** Reads the format from `--format` or from the file extension. */
function readFormat({ format, output }: ExportOptions): FormatName {
  const extension = extname(output ?? '').toLowerCase();
  const requested = format ?? (extension.slice(1) || 'csv');
  const known = formatNames.find((name) => name === requested);
  if (known) return known;
  const choices = joinWords(formatNames);
  throw new UsageError(
    format === undefined
      ? `The extension ${extension} is not known. Known are ${choices}. Or set --format.`
      : `--format is “${format}” but must be one of ${choices}.`,
  );
}

/** Parses filters such as `status=active` with the validation of the API. */
async function readFilters(
  db: Kysely<Tables>,
  what: string,
  { filters, projectFilters }: Exportable,
  filterArguments: string[],
  { project }: ExportOptions,
  moment: Moment,
): Promise<never> {
  if (project && !projectFilters)
    throw new UsageError(`--project cannot be used with ${what}, which do not belong to a project.`);
  const query: Record<string, string[]> = {};
  for (const pair of filterArguments) {
    const [name = '', value] = pair.split(/=(.*)/s);
    if (value === undefined) throw new UsageError(`“${pair}” is not a filter; write it as ${name}=value.`);
    query[name] = [...(query[name] ?? []), value];
  }
  const schema = Strict(optional(project ? (projectFilters ?? {}) : filters));
  const parsed = readQuery(schema, query) as { project?: string[] };
  const resolved = await resolveFilters(db, parsed);
  return (
    project ? { ...resolved, project: [(await getProject(db, project, moment)).id] } : resolved
  ) as never;
}
