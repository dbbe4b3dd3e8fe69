import { extname } from 'node:path';
import type { Kysely } from 'kysely';
import type { Clock, Moment } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { optional, Strict } from '../core/schemas.ts';
import { joinWords } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { readQuery } from '../http/request/validation.ts';
import { type FormatName, formatNames } from '../lists/formats.ts';
import { exportList } from '../lists/send-list.ts';
import { resolveFilters } from '../resources/filters.ts';
import { getProject } from '../resources/projects/queries.ts';
import type { Tables } from '../store/tables.ts';
import { writeOutput } from './output.ts';
import { findTransferable, rejectProject, type Transferable } from './transferable.ts';

export type ExportOptions = { project?: string; format?: string; output?: string };

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
  const [what, exportable] = findTransferable(requested, 'exported');
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
  { filters, ofProject }: Transferable,
  filterArguments: string[],
  { project }: ExportOptions,
  moment: Moment,
): Promise<never> {
  if (project && !ofProject) rejectProject(what);
  const schema = Strict(optional(project && ofProject ? ofProject.filters : filters));
  const query: Record<string, string[]> = {};
  for (const pair of filterArguments) {
    const [name = '', value] = pair.split(/=(.*)/s);
    if (value === undefined) throw new UsageError(`“${pair}” is not a filter; write it as ${name}=value.`);
    query[name] = [...(query[name] ?? []), value];
  }
  // An export is everything unless the filters ask for less, unlike the lists of the API.
  if (ofProject) query.status ??= ['all'];
  if ('archived' in schema.properties) query.archived ??= ['any'];
  const parsed = readQuery(schema, query) as { project?: string[] };
  const resolved = await resolveFilters({ database: { db }, actor: { user_id: null } }, parsed);
  return (
    project ? { ...resolved, project: [(await getProject(db, project, moment)).id] } : resolved
  ) as never;
}
