import { ApiError } from '../api/client.ts';
import type { ImportResult, ImportSummary } from '../api/openapi.ts';
import { withLabels } from '../components/error-text.ts';
import { humanize } from '../format.ts';
import { fieldLabel, type ImportTarget } from './targets.ts';

export type RowError = NonNullable<ImportResult['errors']>[number];

/** The column as the file names it, or the label of the field. */
export const columnOf = ({ column, pointer }: RowError, target: ImportTarget) =>
  column ?? (pointer && fieldLabel(target, pointer.slice(2).split('/')[0] ?? ''));

/** Ids stay, because they tell apart people with the same name. */
export function detailOf({ code, detail }: RowError, target: ImportTarget): string {
  const [, kind, text] =
    /^No (person or group|person|group|risk|issue) matches “(.*?)”\. Use/s.exec(detail) ?? [];
  if (code === 'unknown_reference' && kind)
    return kind === 'risk' || kind === 'issue'
      ? `“${text}” not found in this project.`
      : `“${text}” not found. Choose a ${kind}.`;
  return withLabels(inConsole(detail), (name) => fieldLabel(target, name));
}

/** Beside the cell, which shows the text. */
export const detailInCell = (error: RowError, target: ImportTarget) =>
  detailOf(error, target).replace(/^“.*?” not found/s, 'Not found');

/** The service's advice is about its parameters; the console has controls for them. */
export const inConsole = (detail: string) =>
  detail
    .replace(
      / Use its key, name or external ID, or send `create_projects=true`\.$/,
      ' Choose above what becomes of its rows.',
    )
    .replace(
      /, assign the text with `map_values`, or name another scale.*$/s,
      ', or choose a value for the text above.',
    )
    .replace(/Or assign the text with `map_values`\.$/, 'Or choose a value for the text above.')
    .replace(
      /^`mode=upsert` cannot match this (\w+): the row needs/,
      'Nothing in this row tells which $1 it is: it needs',
    )
    .replace(/Import with `mode=upsert` to update it\./, 'Check “Update existing” to update it.')
    .replace(/ ?with ?`mode=upsert`/, ' with “Update existing” checked')
    .replace(/^This must be one of .*$/, (list) =>
      list.replace(/"(\w+)"/g, (_, value: string) => humanize(value)),
    )
    .replace(/(?<!`)\b(external|user)_id\b(?!`)/g, '$1 ID')
    .replace(/(Unknown column “.*?”\.).*$/s, '$1 Choose a field for it, or skip it.')
    .replace(/^`map` leaves it out\.$/, 'You skip it.');

/** An error of the import as a whole, in the words of the console. */
export const errorInConsole = (error: Error) =>
  error instanceof ApiError && error.fieldErrors.length === 0 ? new Error(inConsole(error.message)) : error;

/** The columns of the row that cause the error. */
export function columnsWithError(
  { column, pointer = '' }: RowError,
  { data = {} }: ImportResult,
  { columns }: ImportSummary,
): string[] {
  const [field = '', member] = pointer.slice(2).split('/');
  const fields = [field, `${field}.${member}`];
  return Object.keys(data).filter((name) => name === column || fields.includes(columns[name] ?? name));
}
