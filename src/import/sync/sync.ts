import type { Transaction } from 'kysely';
import { invalidParameter, Problem } from '../../core/errors.ts';
import { joinWords } from '../../core/text.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { chunk } from '../../store/writes/rows.ts';
import { type Synced, type SyncTarget, uniqueKeysOf } from '../importable.ts';
import { createRowParser } from '../parse-rows.ts';
import type { Recorded } from '../results.ts';
import { type ImportJob, runImport, type Store } from '../run.ts';
import { scanFile } from '../scan.ts';
import type { ImportSummary } from '../schema.ts';
import type { WrittenRow } from '../write.ts';

/** What `mode=sync` is told: the name of the source, how many may go, and who takes over. */
export type SyncOptions = {
  source: string;
  /** The percentage of those whom the source brought. */
  maxLeaving: number;
  /** `manager`, or the id of a person or group. */
  handoverTo?: string | undefined;
};

type Removed = Required<Pick<ImportSummary, 'leavers' | 'kept'>>;

const maxListed = 1000;
const recordedAtOnce = 1000;

/**
 * Imports a file like `mode=upsert`, and removes those whom an earlier sync with the same source brought and who are not in
 * the file any more. If more than a part of them would go, the file is probably incomplete: nobody is removed, and of people
 * nothing is written. Who leaves a group is known only after its row has been written.
 */
export async function runSync(store: Store, job: ImportJob, options: SyncOptions) {
  const { syncTarget: target, change } = job;
  if (!target) throw invalidParameter('mode', '`mode=sync` is for personnel and groups. Use `mode=upsert`.');
  const { dry_run } = job.options;
  const read = dry_run ? store.dryRun : store.write;
  const brought = await read((db) => target.list(db, options.source));
  const present = new Set<string>();
  let missing: Synced[] | undefined;
  if (!target.keysOfWritten) {
    await addKeysOfFile(job, present);
    missing = brought.filter(({ keys }) => keys.every((key) => !present.has(key)));
    rejectTooMany(missing, brought.length, options, target, 'Nothing was changed.');
  }
  /** In the transaction of the rows, so that a sync that is killed forgets nobody whom it has brought. */
  const record = async (db: Transaction<Tables>, rows: readonly WrittenRow[]) => {
    // Somebody whom the file calls inactive has not come back.
    const brought = rows.flatMap(({ row, written: { id } }) =>
      !id || row.values.status === 'inactive'
        ? []
        : [{ id, ...(target.keysOfWritten?.(row, id) ?? { keys: [id], isComplete: true }) }],
    );
    const keys = brought.flatMap(({ keys }) => keys);
    const incomplete = brought.flatMap(({ id, isComplete }) => (isComplete ? [] : id));
    const returned: Recorded['returned'] = [];
    for (const part of chunk([...new Set(keys)], recordedAtOnce))
      returned.push(...(await target.record(db, options.source, part, change())));
    return { keys, returned, incomplete };
  };
  const outcome = await runImport(store, { ...job, record });
  if (outcome.scan.rows === 0)
    throw new Problem(
      'import_refused',
      'The file has no rows, so everybody would leave. Nothing was changed.',
    );
  const { recorded } = outcome.results;
  const seen = new Set(recorded.flatMap(({ keys }) => keys));
  const returned = recorded.flatMap(({ returned }) => returned);
  // A row can be about somebody by the id of another service, which only writing it finds.
  const incomplete = recorded.flatMap(({ incomplete }) => incomplete);
  const open = new Set(incomplete);
  missing = (missing ?? brought).filter(({ id, of }) => !seen.has(id) && !open.has(of ?? ''));
  // Who is in a row that failed is not known, and a file without a column of members says nothing about any.
  const isUnknown = outcome.results.counts.failed > 0 || incomplete.length === outcome.scan.rows;
  if (target.keysOfWritten && isUnknown) missing = [];
  rejectTooMany(missing, brought.length, options, target, 'The rows of the file were imported.');
  const removed = await removeLeavers(store, target, missing, options, change, dry_run);
  return { ...outcome, ...removed, returned };
}

/** Reads the keys of all rows, also of those that will fail: a person with an invalid phone number has not left. */
async function addKeysOfFile(job: ImportJob, keys: Set<string>) {
  const { importable, source, options, recognition } = job;
  const { columns } = await scanFile(importable, source, options.mode, recognition, job.assertWanted);
  const parse = createRowParser(importable, columns, source.isTable);
  for await (const rows of source.rows(job.assertWanted)) {
    for (const row of rows) {
      if (row.isHeader || row.skipped !== undefined) continue;
      const parsed = parse(row, 0);
      if (parsed.isUnreadable)
        throw new Problem(
          'import_refused',
          `Line ${row.line} cannot be read, so it is not known who is missing in the file. Nothing was changed. ${parsed.errors[0]?.detail ?? ''}`,
        );
      const own = uniqueKeysOf(parsed, importable);
      const isWrong = (key: string) =>
        parsed.errors.some(({ pointer }) => pointer === `#/${key.split(' ')[0]}`);
      // This row may be about somebody who would count as missing.
      if (own.every(isWrong)) {
        const fields = importable.keys.map(({ field }) => field).join(', ');
        throw new Problem(
          'import_refused',
          `Line ${row.line} has a valid value for none of ${fields}, so it is not known whom it is about. Nothing was changed. Correct it or remove it.`,
        );
      }
      const repeated = own.find((key) => keys.has(key));
      if (repeated !== undefined)
        throw new Problem(
          'import_refused',
          `Line ${row.line} has the same ${repeated.replace(' ', ' as another line: ')}. Nothing was changed. Remove one of the two lines, or correct it.`,
        );
      for (const key of own) keys.add(key);
    }
  }
}

function rejectTooMany(
  leavers: readonly Synced[],
  all: number,
  { source, maxLeaving }: SyncOptions,
  { noun }: SyncTarget,
  changed: string,
): void {
  const allowed = maxLeaving === 0 ? 0 : Math.max(1, Math.floor((all * maxLeaving) / 100));
  if (leavers.length <= allowed) return;
  const names = leavers.slice(0, 10).map(({ label }) => label);
  const more = leavers.length > names.length ? [`${leavers.length - names.length} more`] : [];
  throw new Problem(
    'import_refused',
    `${leavers.length} of the ${all} ${noun} whom the source “${source}” brought are missing in the file: ` +
      `${joinWords([...names, ...more])}. That is more than ${maxLeaving} %. ${changed} If the file is complete, allow more ` +
      'with `max_leaving`, in percent.',
    { extra: { leavers: leavers.slice(0, maxListed).map(({ id, label }) => ({ id, name: label })) } },
  );
}

/** Removes each leaver in a transaction of its own, because a hand-over locks projects. */
async function removeLeavers(
  store: Store,
  target: SyncTarget,
  missing: readonly Synced[],
  { source, handoverTo }: SyncOptions,
  change: () => Change,
  isDryRun: boolean,
): Promise<Removed> {
  const leavers: Removed['leavers'] = [];
  const kept: Removed['kept'] = [];
  const remove = (leaver: Synced) => (db: Transaction<Tables>) =>
    target.remove(db, source, leaver, handoverTo, {
      ...change(),
      reason: `No longer in the source ${source}.`,
    });
  for (const leaver of missing) {
    const { id, label: name } = leaver;
    try {
      const outcome = isDryRun ? (leaver.keptBy ?? true) : await store.write(remove(leaver));
      if (typeof outcome === 'string') kept.push({ id, name, source: outcome });
      else if (outcome) leavers.push({ id, name });
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
      leavers.push({ id, name, error: error.message });
    }
  }
  return { leavers, kept };
}
