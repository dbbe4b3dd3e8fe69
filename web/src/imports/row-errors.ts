import type { ImportResult, ImportSummary } from '../api/openapi.ts';
import { withLabels } from '../components/error-text.ts';
import { fieldLabel, type ImportTarget } from './targets.ts';

export type RowError = NonNullable<ImportResult['errors']>[number];

/** The column as the file names it, or the label of the field. */
export const columnOf = ({ column, pointer }: RowError, target: ImportTarget) =>
  column ?? (pointer && fieldLabel(target, pointer.slice(2).split('/')[0] ?? ''));

/** Ids stay, because they tell apart people with the same name. */
export const detailOf = ({ detail }: RowError, target: ImportTarget) =>
  withLabels(detail, (name) => fieldLabel(target, name));

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
