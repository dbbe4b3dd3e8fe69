import { Readable } from 'node:stream';
import type { Transaction } from 'kysely';
import { Problem } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { createPacer } from '../formats/pace.ts';
import type { Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import {
  AdaptiveBatchSize,
  type Batch,
  createRepeatCheck,
  createSkippedNumbers,
  createWaitingRows,
  readBatches,
} from './batches.ts';
import type { Importable, SyncTarget } from './importable.ts';
import { createRowParser, type ParsedRow } from './parse-rows.ts';
import {
  changesSeveralProjects,
  groupByProject,
  lockForFile,
  lockForRows,
  type RowGroup,
} from './projects.ts';
import { explainRecognition } from './recognize/explain.ts';
import { createdPeople, type Recognition } from './recognize/parameters.ts';
import { isIdOf, recordMoved } from './references/moved.ts';
import {
  type CreatePlaceholders,
  type PeoplePolicy,
  placeholderKey,
  placeholderOf,
} from './references/people.ts';
import { type PeopleLookup, resolveReferences } from './references/resolve.ts';
import { dataOf, type Recorded, Results, resultOf, type Written, withReturns } from './results.ts';
import { type FileScan, type Source, scanFile } from './scan.ts';
import type { ImportQuery, ImportSummary } from './schema.ts';
import { type WrittenRow, writeRows } from './write.ts';

/** An import: the file, the options of the request, and the resource. */
export type ImportJob = {
  importable: Importable;
  source: Source;
  options: { mode: 'create' | 'upsert'; atomic: boolean; dry_run: boolean };
  /** What happens to texts that match nobody in a column for people; by default, their rows fail. */
  unknownPeople?: PeoplePolicy | undefined;
  /** Required to create people who are not found. */
  createPlaceholders?: CreatePlaceholders | undefined;
  recognition: Recognition;
  /** Required for `mode=sync`, if the resource has it. */
  syncTarget?: SyncTarget | undefined;
  /** Called with the written rows in their transaction, which can be retried. */
  record?(db: Transaction<Tables>, rows: readonly WrittenRow[]): Promise<Recorded>;
  /** Whether the results contain the cells of their rows. */
  include?: ImportQuery['include'] | undefined;
  /** Whether people may be found by fields that require the scope `personnel.read`. */
  seesPeople: boolean;
  /** The actor and the current time. Called for each batch, because an import takes long. */
  change(): Change;
  onProgress?(done: number, rows: number): void;
  /** Throws if nobody waits for the response. Left out if it is stored, so that the client can ask for it again. */
  assertWanted?(): void;
  started_at: string;
};

type WrittenBatch = { rows: WrittenRow[]; recorded: Recorded | undefined };

/** Runs a transaction. `hasWaiters` is passed by a database with a single writer. */
type Write = <T>(work: (db: Transaction<Tables>, hasWaiters?: () => boolean) => Promise<T>) => Promise<T>;

/** The database that an import writes to. */
export type Store = {
  write: Write;
  /** Runs a transaction that is always rolled back. */
  dryRun: Write;
  bulkBatchMs: number;
  /** Translates an error of the database driver. */
  explain(error: unknown): Problem | undefined;
};

/** Long transactions mean fewer commits, but other writers wait longer for each. */
const maxTransactionMs = 30;
const batchesReadAhead = 4;
const maxRecordedRows = 50;

/**
 * Imports a file. Reads it twice: first to the end, so that an unreadable or too long file changes nothing; then to
 * write it, in one transaction if the import is atomic, otherwise in many.
 */
export async function runImport(store: Store, job: ImportJob): Promise<{ scan: FileScan; results: Results }> {
  const { importable, source, options, recognition } = job;
  const { mode, atomic, dry_run } = options;
  const scan = await scanFile(importable, source, mode, recognition, job.assertWanted);
  if (dry_run)
    return { scan, results: await store.dryRun((db) => importInOneTransaction(store, db, job, scan)) };
  if (!atomic) {
    const results = new Results(scan.rows);
    await importRows(store, job, scan, results).catch((error) => {
      const cause = store.explain(error) ?? error;
      throw results.done === 0 && !maybeSaved(cause) ? error : interrupted(job, scan, results, cause);
    });
    return { scan, results };
  }
  const results = await store
    .write(async (db) => {
      const results = await importInOneTransaction(store, db, job, scan);
      if (results.counts.failed > 0) throw new ImportRollback(results);
      return results;
    })
    .catch((error) => {
      if (error instanceof ImportRollback) return error.results;
      throw error;
    });
  return { scan, results: Results.from(results) };
}

/** Whether the connection was lost during a commit, so that nobody knows whether its rows were saved. */
const maybeSaved = (cause: unknown) => cause instanceof Problem && cause.extra.may_be_saved === true;

/** The error that ended an import after some rows were saved, with these rows and how to continue. */
function interrupted(
  { importable, options }: ImportJob,
  { rows, columns }: FileScan,
  results: Results,
  cause: unknown,
) {
  const { code, message }: Pick<Problem, 'code' | 'message'> =
    cause instanceof Problem
      ? cause
      : { code: 'internal', message: 'An unexpected error occurred and was logged.' };
  const { created, updated, unchanged, failed } = results.counts;
  const isFull = code === 'storage_full';
  const reason = isFull
    ? 'The disk of the database is full.'
    : code === 'unavailable'
      ? 'The database is unavailable.'
      : message;
  const hasKey = importable.keys.some(({ field }) => columns.columnFor(field) !== undefined);
  const importedLines = results.importedLines();
  const advice =
    options.mode === 'upsert' || hasKey
      ? 'send the file again with `mode=upsert`. Rows that are already imported stay as they are.'
      : `remove the imported lines${importedLines && ` (${importedLines})`} from the file and send the rest.`;
  const isUnknown = maybeSaved(cause);
  const saved = results.done === 0 ? '' : 'Imported rows were saved. ';
  const unknown =
    results.done === 0
      ? 'The first rows may have been saved'
      : 'Some rows after them may have been saved as well';
  return new Problem(
    code,
    `The import stopped after ${results.done} of ${rows} rows. ${reason} ${saved}` +
      (isUnknown ? `${unknown}: check those first. ` : '') +
      `${isFull ? 'Free up disk space, then' : 'To continue,'} ${advice}`,
    {
      cause,
      extra: {
        rows,
        created,
        updated,
        unchanged,
        failed,
        imported_lines: importedLines,
        ...(isUnknown && { may_be_saved: true }),
      },
      ...(code === 'unavailable' && { headers: { 'retry-after': '5' } }),
    },
  );
}

/** Rolls back an atomic import in which rows failed. */
class ImportRollback extends Error {
  readonly results: Results;
  constructor(results: Results) {
    super('The import is rolled back.');
    this.results = results;
  }
}

async function importInOneTransaction(
  store: Store,
  db: Transaction<Tables>,
  job: ImportJob,
  scan: FileScan,
): Promise<Results> {
  const results = new Results(scan.rows);
  await lockForFile(db, job, scan);
  await importRows({ ...store, write: (work) => work(db) }, job, scan, results, true);
  job.assertWanted?.();
  return results;
}

function createPeoplePolicy({ unknownPeople = 'error', recognition }: ImportJob) {
  const created = createdPeople(recognition);
  return (text: string): PeoplePolicy =>
    created.size > 0 && created.has(placeholderKey(text)) ? 'create' : unknownPeople;
}

/** Writes all rows in batches. Each group of batches is one transaction of the store. `isLocked`: it has all locks already. */
const usualNameLength = 100;

async function importRows(
  store: Store,
  job: ImportJob,
  scan: FileScan,
  results: Results,
  isLocked = false,
): Promise<void> {
  const { importable, source, options, change, onProgress } = job;
  scan.columns.startCounting();
  const policyFor = createPeoplePolicy(job);
  const waiting = createWaitingRows(importable, scan.rowsByKey);
  const newIds = new Map<string, string>();
  const earlier = {
    skipped: createSkippedNumbers(waiting),
    findRepeated: createRepeatCheck(waiting.onRollback),
  };
  const placeholders = new Set<string>();
  // People who come back in a sync change one by one.
  const size = new AdaptiveBatchSize(store.bulkBatchMs, job.record && maxRecordedRows);

  /** Writes batches until the transaction takes too long or another writer waits. Returns their number. */
  async function writeBatches(nextBatch: (position: number) => Batch | undefined): Promise<number> {
    job.assertWanted?.();
    const batches = await store.write(async (db, hasWaiters) => {
      // The database may retry a transaction.
      waiting.rollback();
      const batches: WrittenBatch[] = [];
      const end = performance.now() + maxTransactionMs;
      // A further batch may need the locks of further projects, which must all be taken at the start.
      const isWithoutFurtherLocks =
        isLocked || hasWaiters !== undefined || !changesSeveralProjects(importable);
      while (batches.length === 0 || (isWithoutFurtherLocks && !hasWaiters?.() && performance.now() < end)) {
        const batch = nextBatch(batches.length);
        if (!batch) break;
        if (!isLocked && batches.length === 0) await lockForRows(db, job, batch.rows);
        const start = performance.now();
        const rows = await writeBatch(db, batch);
        const recorded = await job.record?.(db, rows);
        batches.push({ rows: rows.map(withReturns(recorded)), recorded });
        size.adapt(batch.rows.length, performance.now() - start);
      }
      return batches;
    });
    waiting.commit();
    for (const batch of batches) await recordResults(batch);
    return batches.length;
  }

  /** Returns the rows that were written, without those that wait for other rows. */
  async function writeBatch(db: Transaction<Tables>, batch: Batch): Promise<WrittenRow[]> {
    const written: WrittenRow[] = [];
    for (const group of await groupByProject(db, importable, batch.rows, change()))
      written.push(...(await writeGroup(db, group, batch.mayWait)));
    return written;
  }

  async function writeGroup(
    db: Transaction<Tables>,
    group: RowGroup,
    mayWait: boolean,
  ): Promise<WrittenRow[]> {
    const otherRows = { ...waiting, mayWait, newIds };
    const people: PeopleLookup = {
      seesPeople: job.seesPeople,
      policyFor,
      isPlaceholder: (user_id) => placeholders.has(user_id),
      createPlaceholders: (texts) => createPlaceholders(db, texts),
    };
    const resolved = await resolveReferences(db, group.importable, group.rows, otherRows, people);
    const rows = resolved.filter(({ waitsFor }, i) => {
      const row = group.rows[i] as ParsedRow;
      if (waiting.waitsBehindAnother(row)) return false;
      if (waitsFor) waiting.wait(row, waitsFor);
      return !waitsFor;
    });
    const written = await writeRows(db, group.importable, options.mode, rows, change(), earlier);
    for (const one of written) {
      recordNewId(one);
      waiting.done(one.row, one.written.status === 'failed');
    }
    await recordMoved(db, written.flatMap(movedIdOf), change());
    return written;
  }

  async function createPlaceholders(db: Transaction<Tables>, texts: readonly string[]) {
    const byKey = Map.groupBy(texts, placeholderKey);
    const people = [...byKey.values()].map(([text = '']) => placeholderOf(text));
    const created = (await job.createPlaceholders?.(db, people, change())) ?? [];
    const outcomes = new Map<string, string | Problem>();
    for (const [i, ofPerson] of [...byKey.values()].entries()) {
      const outcome = created[i];
      if (outcome === undefined) continue;
      if (!(outcome instanceof Problem)) {
        placeholders.add(outcome.id);
        waiting.onRollback(() => placeholders.delete(outcome.id));
      }
      for (const text of ofPerson) outcomes.set(text, outcome instanceof Problem ? outcome : outcome.id);
    }
    return outcomes;
  }

  /** The id in the file of a row that was created, if it is one of another service. */
  function movedIdOf({ row, written: { status, id } }: WrittenRow) {
    const old_id = row.identity[importable.keys[0].field];
    const isMoved = status === 'created' && id && old_id && isIdOf(importable.what)(old_id);
    return isMoved ? [{ old_id, new_id: id }] : [];
  }

  function recordNewId({ row, written: { status, id } }: WrittenRow): void {
    const idInFile = row.identity[importable.keys[0].field];
    if (status !== 'created' || !id || !idInFile) return;
    newIds.set(idInFile, id);
    waiting.onRollback(() => newIds.delete(idInFile));
  }

  /**
   * A workbook can repeat a text, so that its rows are longer than the file. Failed rows have a limit of their own, so
   * that they can be fixed however long the other rows are.
   */
  const dataLength = { failed: 0, others: 0 };
  function includedData({ row, written }: WrittenRow): Pick<Written, 'data'> {
    const rows = written.status === 'failed' ? 'failed' : 'others';
    if (!row.source || dataLength[rows] > limits.import_bytes) return {};
    if (job.include === 'failed_data' && rows === 'others') return {};
    const data = dataOf(row.source, scan.columns);
    // Usual names of columns do not count, but they can be long, too.
    for (const [name, text] of Object.entries(data))
      dataLength[rows] += text.length + Math.max(0, name.length - usualNameLength);
    return { data };
  }

  const pause = createPacer();
  async function recordResults({ rows, recorded }: WrittenBatch): Promise<void> {
    if (recorded) results.recorded.push(recorded);
    for (const one of rows) {
      const result = resultOf(one.row, one.written, scan.columns, options.dry_run);
      results.set(one.row.index, { ...result, ...includedData(one) });
      results.addPeople(one.row, policyFor, scan.columns);
      results.addAssumed(one.row, one.written, importable);
      await pause();
    }
    onProgress?.(results.done, scan.rows);
  }

  const parseRow = createRowParser(importable, scan.columns, source.isTable, job.include !== undefined);
  // A stream reads the next batches while the current one is written.
  const rows = source.rows(job.assertWanted);
  const stream = Readable.from(readBatches(rows, parseRow, size, importable.across !== undefined), {
    highWaterMark: batchesReadAhead,
  });
  try {
    const file: AsyncIterator<Batch> = stream[Symbol.asyncIterator]();
    // A retried transaction gets the same batches again, and what it does not write is left for the next one.
    const read: Batch[] = [];
    for (;;) {
      if (read.length === 0) {
        // Waits for the file before the transaction, which keeps other writers waiting.
        const { value: first }: IteratorResult<Batch, undefined> = await file.next();
        if (!first) break;
        read.push(first);
      }
      const count = await writeBatches((position) => {
        const batch: Batch | undefined = read[position] ?? stream.read() ?? undefined;
        if (batch) read[position] = batch;
        return batch;
      });
      read.splice(0, count);
    }
  } finally {
    stream.destroy();
  }
  while (waiting.hasNext()) await writeBatches(() => waiting.next(size.rows));
  if (results.done !== scan.rows) throw new Error(`${results.done} of ${scan.rows} rows have a result.`);
}

export function summaryOf(
  { options, started_at }: ImportJob,
  scan: FileScan,
  { counts, people, assumed }: Results,
): ImportSummary {
  const { rows } = scan;
  const isRolledBack = options.atomic && counts.failed > 0;
  const finalCounts = isRolledBack
    ? { created: 0, updated: 0, unchanged: 0, failed: counts.failed, skipped: rows - counts.failed }
    : counts;
  // Placeholders that were rolled back have no id that means anything.
  const isKept = !isRolledBack && !options.dry_run;
  const unknown = Object.values(people.unknown).map(({ user_id, ...person }) => ({
    ...person,
    ...(user_id && isKept && { user_id }),
  }));
  return {
    rows,
    ...finalCounts,
    ...options,
    started_at,
    ...explainRecognition(scan, unknown, people.nobody, isRolledBack ? {} : assumed),
  };
}
