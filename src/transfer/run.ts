import { Readable } from 'node:stream';
import type { Transaction } from 'kysely';
import { type FieldError, invalidParameter, Problem } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { joinWords, shortened } from '../core/text.ts';
import type { Work } from '../database/sqlite/group-commit.ts';
import type { Tables } from '../database/tables.ts';
import type { Change } from '../database/writes/change.ts';
import { createPacer } from '../formats/pace.ts';
import type { Row } from '../formats/rows.ts';
import { AdaptiveBatchSize, type Batch, batchesOfFile } from './batches.ts';
import {
  asMapped,
  type Column,
  type Columns,
  columnsOf,
  kindNamed,
  tableColumns,
  targetOf,
} from './columns.ts';
import type { Importable } from './importable.ts';
import { createRowParser, type ParsedRow } from './parse-rows.ts';
import { resolveAll } from './references.ts';
import { Results } from './results.ts';
import type { ImportQuery, ImportResult, ImportSummary } from './schema.ts';
import { createWaitingRows, keysOf } from './waiting.ts';
import { type Written, writeRows } from './write.ts';

/** A file, which can be read from its start as often as need be. */
export type Source = { isTable: boolean; rows(): AsyncIterable<Row[]> };

/** What is asked for. `change` tells who and when, anew for each part of the work. */
export type Task = {
  importable: Importable;
  source: Source;
  options: Required<Omit<ImportQuery, 'map'>>;
  map: ReadonlyMap<string, string>;
  /** Whether people may be found by what only those see who may read personnel. */
  seesPeople: boolean;
  change(): Change;
  onProgress?(done: number, rows: number): void;
};

type Write = <T>(work: Work<T>) => Promise<T>;

/** Where the rows go. */
export type Store = {
  write: Write;
  /** Runs a transaction that is always rolled back. */
  rehearse: Write;
  /** What a driver's error means to a caller. */
  explain(error: unknown): Problem | undefined;
};

/** How long a transaction may take: the longer the fewer, but the longer also its end, for which others wait. */
const maxTransactionMs = 30;
const batchesAhead = 4;

/**
 * Imports a file. It is read twice: first to its end, so that one that cannot be read, or is too long, changes nothing;
 * then to be written, in parts, or, where it is all or nothing, in one transaction.
 */
export async function runImport(store: Store, task: Task): Promise<{ scan: FileScan; results: Results }> {
  const scan = await scanFile(task);
  const { atomic, dry_run } = task.options;
  if (dry_run) return { scan, results: await store.rehearse((db) => importAtOnce(db, task, scan)) };
  if (!atomic) {
    const results = new Results(scan.rows);
    await importRows(task, scan, results, store.write).catch((error) => {
      throw results.done === 0 ? error : interrupted(task, scan, results, store.explain(error) ?? error);
    });
    return { scan, results };
  }
  const results = await store
    .write(async (db) => {
      const results = await importAtOnce(db, task, scan);
      if (results.counts.failed > 0) throw new ImportRollback(results);
      return results;
    })
    .catch((error) => {
      if (error instanceof ImportRollback) return error.results;
      throw error;
    });
  return { scan, results: Results.from(results) };
}

/** 507 when the disk is full, otherwise 503: what was written, and how to go on from there. */
function interrupted(
  { importable, options }: Task,
  { rows, columns }: FileScan,
  results: Results,
  cause: unknown,
) {
  const isFull = cause instanceof Problem && cause.code === 'storage_full';
  const { created, updated, unchanged, failed } = results.counts;
  const why = isFull ? 'the disk of the database is full' : 'the database could not be used';
  const hasKey = importable.keys.some(({ field }) => columns.nameOf(field) !== undefined);
  const importedLines = results.importedLines();
  const advice =
    options.mode === 'upsert' || hasKey
      ? 'send the file again with `mode=upsert`: what is there already is left as it is.'
      : `take the lines out of the file that are imported (${importedLines}), and send the rest.`;
  return new Problem(
    isFull ? 'storage_full' : 'unavailable',
    `The import was interrupted after ${results.done} of ${rows} rows, because ${why}; what was written stays. ` +
      `${isFull ? 'When there is room again' : 'Then'}, ${advice}`,
    {
      cause,
      extra: { rows, created, updated, unchanged, failed, imported_lines: importedLines },
      ...(!isFull && { headers: { 'retry-after': '5' } }),
    },
  );
}

/** Takes back an atomic import of which some rows failed. */
class ImportRollback extends Error {
  readonly results: Results;
  constructor(results: Results) {
    super('The import is undone.');
    this.results = results;
  }
}

async function importAtOnce(db: Transaction<Tables>, task: Task, scan: FileScan): Promise<Results> {
  const results = new Results(scan.rows);
  await importRows(task, scan, results, (work) => work(db));
  return results;
}

/** What a look through the whole file tells. */
export type FileScan = {
  rows: number;
  columns: Columns;
  /** How many rows have each name, id or e-mail, where rows may refer to one another by them. */
  rowsByKey: ReadonlyMap<string, number>;
};

async function scanFile({ importable, source, options, map }: Task): Promise<FileScan> {
  const columns = columnsOf(importable, map);
  const read = createRowParser(importable, columns, source.isTable);
  const pause = createPacer();
  const rowsByKey = new Map<string, number>();
  let mayRefer = !source.isTable;
  const canRefer = Object.values(importable.patch.properties).some(
    (property) => kindNamed(property) === importable.what,
  );
  let isEmpty = source.isTable;
  let rows = 0;
  for await (const some of source.rows()) {
    for (const row of some) {
      if (row.isHeader) {
        rejectUnknownColumns(map, row.names);
        const found = tableColumns(row.names, columns, importable, options.mode);
        mayRefer = found.some((column) => refersTo(column, importable.what));
        isEmpty = false;
        continue;
      }
      rows++;
      if (rows > limits.import_rows) throw tooManyRows();
      if (mayRefer && canRefer) {
        for (const key of keysOf(read(row, 0), importable)) rowsByKey.set(key, (rowsByKey.get(key) ?? 0) + 1);
      }
      await pause();
    }
  }
  if (isEmpty) {
    const detail = 'The file is empty. Its first line names the columns, each line after it is a row.';
    throw new Problem('invalid_body', detail);
  }
  return { rows, columns, rowsByKey };
}

/** Whether a column may name other rows of the file. */
const refersTo = (column: Column, what: Importable['what']) =>
  (column.is === 'reference' && column.kind === what) ||
  (column.is === 'name' && column.among.some(({ kind }) => kind === what));

function rejectUnknownColumns(map: ReadonlyMap<string, string>, names: readonly string[]): void {
  const known = new Set(names.map(asMapped));
  const unknown = [...map.keys()].find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw invalidParameter(
    'map',
    `\`map\` names the column “${shortened(unknown)}”, which the file does not have. It has ${joinWords(names.slice(0, 50).map((name) => shortened(name)))}.`,
  );
}

const tooManyRows = () =>
  new Problem(
    'too_large',
    `The file has more than ${limits.import_rows} rows. Split it; nothing of it has been written.`,
  );

/** What became of a part; of rows that wait for others nothing yet. */
type WrittenBatch = { drafts: Batch; written: readonly Written[] };

/** Writes all rows in parts; `write` says what a transaction is to the database. */
async function importRows(task: Task, scan: FileScan, results: Results, write: Write): Promise<void> {
  const { importable, source, options, change, onProgress } = task;
  const waiting = createWaitingRows(importable, scan.rowsByKey);
  const newIds = new Map<string, string>();
  const size = new AdaptiveBatchSize();

  /** Writes as many parts as one transaction can have before others must have their turn; false when there are none. */
  async function writeSome(nextPart: (place: number) => Promise<NextPart | undefined>): Promise<boolean> {
    const some = await write(async (db, hasWaiters) => {
      // A transaction may run twice.
      waiting.rollback();
      const parts: WrittenBatch[] = [];
      const end = performance.now() + maxTransactionMs;
      while (parts.length === 0 || (!hasWaiters?.() && performance.now() < end)) {
        const part = await nextPart(parts.length);
        if (!part) break;
        const start = performance.now();
        parts.push(await writeBatch(db, part));
        size.learn(part.drafts.length, performance.now() - start, hasWaiters ? 'singleWriter' : 'concurrent');
      }
      return parts;
    });
    waiting.commit();
    for (const part of some) await note(part);
    return some.length > 0;
  }

  async function writeBatch(
    db: Transaction<Tables>,
    { drafts: part, mayWait }: NextPart,
  ): Promise<WrittenBatch> {
    const others = { hasToCome: (text: string) => mayWait && waiting.hasToCome(text), newIds };
    const resolved = await resolveAll(db, importable, part, others, task.seesPeople);
    for (const [i, { waitsFor }] of resolved.entries()) {
      const draft = part[i];
      if (waitsFor && draft) waiting.wait(draft, waitsFor);
    }
    const drafts = resolved.filter(({ waitsFor }) => !waitsFor);
    const written = await writeRows(db, importable, options.mode, drafts, change());
    for (const [i, draft] of drafts.entries()) {
      noteNewId(draft, written[i]);
      waiting.done(draft);
    }
    return { drafts, written };
  }

  function noteNewId({ identity }: ParsedRow, { status, id }: Partial<Written> = {}): void {
    const idInFile = identity[importable.keys[0].field];
    if (status !== 'created' || !id || !idInFile) return;
    newIds.set(idInFile, id);
    waiting.onRollback(() => newIds.delete(idInFile));
  }

  const pause = createPacer();
  async function note({ drafts, written }: WrittenBatch): Promise<void> {
    for (const [i, draft] of drafts.entries()) {
      results.set(draft.index, resultOf(draft, written[i], task, scan));
      await pause();
    }
    onProgress?.(results.done, scan.rows);
  }

  const read = createRowParser(importable, scan.columns, source.isTable);
  // While some are written the next are read.
  const ahead = Readable.from(batchesOfFile(source.rows(), read, size), { highWaterMark: batchesAhead });
  try {
    const file: AsyncIterator<Batch> = ahead[Symbol.asyncIterator]();
    let hasMore = true;
    while (hasMore) {
      const taken: Batch[] = [];
      // First come those that the transaction took when it ran before.
      hasMore = await writeSome(async (place) => {
        const part: Batch | undefined = taken[place] ?? (await file.next()).value;
        if (part) taken[place] = part;
        return part && { drafts: part, mayWait: true };
      });
    }
  } finally {
    ahead.destroy();
  }
  while (await writeSome(async () => waiting.next(size.rows)));
}

/** Rows to be written, and whether they may wait for others. */
type NextPart = { drafts: Batch; mayWait: boolean };

function resultOf(
  { line }: ParsedRow,
  written: Written = { status: 'failed' },
  { options }: Task,
  { columns }: FileScan,
): ImportResult {
  if (written.errors) return { line, status: written.status, errors: inColumns(written.errors, columns) };
  // What a dry run has made is gone, and so are its ids.
  return options.dry_run && written.status === 'created' ? { line, status: 'created' } : { line, ...written };
}

/** The errors of a table's row, each with the name of its column, where that is not the field itself. */
function inColumns(errors: readonly FieldError[], columns: Columns): FieldError[] {
  return errors.map((error) => {
    const [field = ''] = error.pointer?.slice(2).split('/') ?? [];
    const name = columns.nameOf(field);
    return name === undefined || name === field ? error : { ...error, column: shortened(name) };
  });
}

export function summaryOf(
  { options }: Task,
  { rows, columns }: FileScan,
  { counts }: Results,
): ImportSummary {
  const isRefused = options.atomic && counts.failed > 0;
  const done = isRefused
    ? { created: 0, updated: 0, unchanged: 0, failed: counts.failed, skipped: rows - counts.failed }
    : counts;
  const taken = [...columns.taken];
  return {
    rows,
    ...done,
    ...options,
    columns: Object.fromEntries(
      taken.filter(([, { is }]) => is !== 'nothing').map(([name, column]) => [name, targetOf(column)]),
    ),
    ignored_columns: taken.filter(([, { is }]) => is === 'nothing').map(([name]) => name),
  };
}
