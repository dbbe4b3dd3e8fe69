import type { ImportResult } from '../api/openapi.ts';
import { contentTypeOf, type ImportReport, type Run } from './run-import.ts';
import type { Settings } from './settings.ts';

/** The cells that the user has changed, by the line of their row, then by column. */
export type Edits = ReadonlyMap<number, Readonly<Record<string, string>>>;

/** The file with these cells in place of its own. */
export type CorrectedFile = Pick<Run, 'file' | 'original' | 'skipped'>;

export const correctFile = async (
  { file }: Run,
  { results, summary }: ImportReport,
  edits: Edits,
): Promise<CorrectedFile> =>
  contentTypeOf(file).endsWith('ndjson')
    ? correctObjects(file, results, edits)
    : {
        ...correctTable(results, edits),
        // A corrected table has nothing above its header, and no columns without a name.
        skipped: summary.skipped_cells.filter(({ column }) => column === null),
      };

/** The assigned values whose text still occurs after the edits. The service rejects the others. */
export function valuesInUse(
  map: Settings['map_values'],
  { results, summary: { columns } }: ImportReport,
  edits: Edits,
): Settings['map_values'] {
  const used = new Set<string>();
  for (const { line, data = {} } of results) {
    for (const [column, text] of Object.entries({ ...data, ...edits.get(line) }))
      used.add(`${columns[column]}:${text.trim().toLowerCase()}`);
  }
  return Object.fromEntries(
    Object.entries(map).map(([field, texts]) => [
      field,
      Object.fromEntries(
        Object.entries(texts).filter(([text]) => used.has(`${field}:${text.trim().toLowerCase()}`)),
      ),
    ]),
  );
}

/** The names whose text still occurs after the edits. */
export function peopleInUse(
  people: Settings['people'],
  { results }: ImportReport,
  edits: Edits,
): Settings['people'] {
  const used = new Set<string>();
  for (const { line, data = {} } of results) {
    for (const text of Object.values({ ...data, ...edits.get(line) }))
      for (const name of [text, ...text.split(/[;,/&\n]/)]) used.add(wordsOf(name));
  }
  return Object.fromEntries(Object.entries(people).filter(([text]) => used.has(wordsOf(text))));
}

/** The projects whose text still occurs after the edits. */
export function projectsInUse(
  projects: Settings['projects'],
  { results }: ImportReport,
  edits: Edits,
): Settings['projects'] {
  const used = new Set(
    results.flatMap(({ line, data = {} }) =>
      Object.values({ ...data, ...edits.get(line) }).map((text) => text.trim()),
    ),
  );
  return Object.fromEntries(Object.entries(projects).filter(([text]) => used.has(text)));
}

/** `Lovelace, Ada` and `Ada Lovelace` are the same name. */
const wordsOf = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .toSorted()
    .join(' ')
    .trim();

/** The service has read the file, so a workbook, any delimiter and any encoding become the same plain CSV. */
function correctTable(results: readonly ImportResult[], edits: Edits): CorrectedFile {
  if (results.some(({ data }) => !data))
    throw new Error('This file is too large to correct here. Download the error report instead.');
  const names = Object.keys(results[0]?.data ?? {});
  const rows = [names];
  const original: Run['original'] & object = [];
  for (const { line, data = {}, errors = [] } of results) {
    const cells = names.map((name) => edits.get(line)?.[name] ?? data[name] ?? '');
    // The service skips a blank row.
    if (cells.every((cell) => cell === '')) continue;
    // A row with the wrong number of cells or an unreadable one stays wrong until the user has looked at it.
    const isUnreadable = !edits.has(line) && errors.some(({ code }) => code === 'unreadable');
    rows.push(isUnreadable ? [...cells, ''] : cells);
    original.push(isUnreadable ? { line, errors } : { line });
  }
  return { file: new File([csvOf(rows)], 'corrected.csv'), original };
}

/** In NDJSON a missing member differs from an empty one, so only the lines of the changed rows are written again. */
async function correctObjects(file: File, results: readonly ImportResult[], edits: Edits) {
  const lines = (await file.text()).split('\n');
  for (const [line, cells] of edits) {
    const { errors = [] } = results.find((result) => result.line === line) ?? {};
    const object = JSON.parse(lines[line - 1] ?? '') as Record<string, unknown>;
    for (const [name, text] of Object.entries(cells)) {
      const isWrongType = errors.some(({ code, pointer }) => code === 'type' && pointer === `#/${name}`);
      object[name] = valueLike(isWrongType ? undefined : object[name], text);
    }
    lines[line - 1] = JSON.stringify(object);
  }
  return { file: new File([lines.join('\n')], file.name) };
}

/** The text as a value of the same type as the former one. */
function valueLike(former: unknown, text: string): unknown {
  if (text === '') return null;
  if (typeof former === 'string') return text;
  if (Array.isArray(former) && !text.startsWith('[')) return text.split(';').map((item) => item.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const csvOf = (rows: readonly (readonly string[])[]) =>
  rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');

/** Always quoted. The apostrophe keeps a spreadsheet from running the text as a formula; an import removes it. */
const csvCell = (text: string) =>
  `"${(/^'*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
