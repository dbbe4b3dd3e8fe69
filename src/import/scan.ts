import { invalidParameter, Problem } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { fold, shortened } from '../core/text.ts';
import { createPacer } from '../formats/pace.ts';
import type { Row } from '../formats/rows.ts';
import { keysOf } from './batches.ts';
import type { Importable } from './importable.ts';
import { describeTable } from './layout/describe.ts';
import { createRowParser, type ParsedRow } from './parse-rows.ts';
import { type Column, kindNamed } from './recognize/catalogue.ts';
import { type Columns, createColumns } from './recognize/columns.ts';
import { inReadingOrder } from './recognize/evidence.ts';
import { normalizeColumnName } from './recognize/names.ts';
import { type Recognition, unknownName } from './recognize/parameters.ts';

/** A file whose rows can be read from the start any number of times. `assertWanted` throws if nobody waits for them. */
export type Source = {
  isTable: boolean;
  rows(assertWanted?: () => void): AsyncIterable<Row[]>;
  /** The encoding of a CSV file. */
  charset?: string;
  /** Whether the last line of a CSV file has no line break, as if it were cut off. */
  endsOpen?: boolean;
};

export type FileScan = {
  rows: number;
  columns: Columns;
  /** The number of rows that have each name, id or email. Empty if rows cannot refer to one another. */
  rowsByKey: ReadonlyMap<string, number>;
  /** The header of a table. */
  header?: Row | undefined;
  charset?: string;
  endsOpen?: boolean;
};

/** Reads the whole file before anything is written, and rejects a file that is unreadable or too long. */
export async function scanFile(
  importable: Importable,
  source: Source,
  mode: 'create' | 'upsert',
  recognition: Recognition,
  assertWanted?: () => void,
): Promise<FileScan> {
  if (!source.isTable) rejectTableParameters(recognition);
  const columns = createColumns(importable, recognition);
  let parse = createRowParser(importable, columns, source.isTable);
  const pause = createPacer();
  const rowsByKey = new Map<string, number>();
  const canRefer = Object.values(importable.patch.properties).some(
    (property) => kindNamed(property) === importable.what,
  );
  let hasReferences = !source.isTable;
  let isEmpty = source.isTable;
  let rows = 0;
  let header: Row | undefined;
  for await (const chunk of source.rows(assertWanted)) {
    for (const row of chunk) {
      if (row.isHeader) {
        if (!recognition.isLenient) rejectUnknownColumns(recognition.map, row.names);
        header = row;
        explainTable(row, source, () => columns.setHeader(row, mode));
        parse = createRowParser(importable, columns, source.isTable);
        hasReferences = columns.table().some((column) => refersTo(column, importable.what));
        isEmpty = false;
        continue;
      }
      if (row.skipped !== undefined) {
        columns.skipRow(row, row.skipped);
        continue;
      }
      rows++;
      if (rows > limits.import_rows) throw tooManyRows();
      if (row.error === undefined && source.isTable) columns.observe(row);
      else if (row.error === undefined) columns.observeMembers(row);
      if (hasReferences && canRefer) {
        for (const key of possibleKeys(parse(row, 0), importable))
          rowsByKey.set(key, (rowsByKey.get(key) ?? 0) + 1);
      }
      await pause();
    }
  }
  if (isEmpty) {
    const detail =
      'The file is empty. Put the column names on the first line and one row on each line after it.';
    throw new Problem('invalid_body', detail);
  }
  explainTable(header, source, () => columns.settle());
  return {
    rows,
    columns,
    rowsByKey,
    header,
    ...(source.charset && { charset: source.charset }),
    ...(source.endsOpen && { endsOpen: true }),
  };
}

/** Adds the table that was read to an error about its columns, so that the sender can choose another header or sheet. */
function explainTable(header: Row | undefined, { charset }: Source, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem && header)
      Object.assign(error.extra, { ...describeTable(header), charset: charset ?? null });
    throw error;
  }
}

/** The keys of a row. Whether `Lovelace, Ada` is a last and a first name is known only at the end of the file. */
function possibleKeys(row: ParsedRow, importable: Importable): Set<string> {
  const keys = keysOf(row, importable);
  const { name } = row.values;
  return typeof name === 'string' && importable.personNames ? keys.add(fold(inReadingOrder(name))) : keys;
}

/** Whether a column can refer to other rows of the same file. */
const refersTo = (column: Column, what: Importable['what']) =>
  (column.is === 'reference' && column.kind === what) ||
  (column.is === 'name' && column.targets.some(({ kind }) => kind === what));

function rejectUnknownColumns(map: ReadonlyMap<string, string>, names: readonly string[]): void {
  const known = new Set(names.map(normalizeColumnName));
  const unknown = [...map.keys()].find((name) => !known.has(name));
  if (unknown === undefined) return;
  const what = `names the column “${shortened(unknown)}”, which is not in the file`;
  throw unknownName(
    'map',
    what,
    unknown,
    names.filter((name) => name !== ''),
    'columns',
  );
}

/** The values of NDJSON are those of the API. */
function rejectTableParameters({ map_values, scales }: Recognition): void {
  if (map_values.size === 0 && scales.size === 0) return;
  const parameter = map_values.size > 0 ? 'map_values' : 'scales';
  const detail = `\`${parameter}\` is for CSV and XLSX. Write NDJSON with the values of the API, and remove \`${parameter}\`.`;
  throw invalidParameter(parameter, detail);
}

const tooManyRows = () =>
  new Problem(
    'too_large',
    `The file has more than ${limits.import_rows} rows. Nothing was imported. Split the file.`,
  );
