import { Link } from 'wouter';
import type { ImportResult, ImportSummary } from '../api/openapi.ts';
import { humanize } from '../format.ts';
import { fieldLabel, type ImportTarget } from './targets.ts';

type Props = {
  result: ImportResult;
  summary: ImportSummary;
  target: ImportTarget;
  /** Whether the row is imported, so that it links to its item. */
  isLinked: boolean;
};

/** Enough to recognize a text. */
const maxLength = 100;

/** The name of a row and its values by field, or what changes, so that a wrong mapping is seen before the import. */
export function RowValues({ result, summary, target, isLinked }: Props) {
  const { key, status, changed = [] } = result;
  const href = isLinked ? target.hrefOf(result) : undefined;
  const texts = textsByField(result, summary);
  const [nameField = ''] = Object.keys(target.fields);
  const name = texts.get(nameField);
  texts.delete(nameField);
  const isNew = status === 'created' || status === 'skipped';
  const fields = isNew ? [...texts.keys()] : changed;
  return (
    <>
      {href ? <Link href={href}>{key ?? name ?? 'View'}</Link> : key}{' '}
      {(key || !href) && name && <bdi className="import-name">{cut(name)}</bdi>}
      {fields.length > 0 && (
        <p className="import-values">
          {fields.map((field, index) => (
            <span key={field}>
              {index > 0 && ' · '}
              {fieldLabel(target, field)}
              {texts.has(field) && (
                <>
                  : <bdi>{cut(texts.get(field) ?? '')}</bdi>
                </>
              )}
            </span>
          ))}
        </p>
      )}
    </>
  );
}

const cut = (text: string) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** Several columns, such as first and last name, can be joined into one field. */
function textsByField({ data = {} }: ImportResult, summary: ImportSummary): Map<string, string> {
  const { columns, ignored_columns, unknown_columns, values } = summary;
  const texts = new Map<string, string>();
  for (const [column, text] of Object.entries(data)) {
    if (text === '' || ignored_columns.includes(column) || column in unknown_columns) continue;
    const value = values[column]?.[text];
    if (value === 'null') continue;
    const field = columns[column] ?? column;
    texts.set(field, [texts.get(field), value ? humanize(value) : text].filter(Boolean).join(' '));
  }
  return texts;
}
