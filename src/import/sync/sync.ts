import type { Transaction } from 'kysely';
import { invalidParameter, Problem } from '../../core/errors.ts';
import { joinWords } from '../../core/text.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Synced, SyncTarget } from '../importable.ts';
import { createRowParser, uniqueKeysOf } from '../parse-rows.ts';
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

type Leavers = NonNullable<ImportSummary['leavers']>;
type Returned = NonNullable<ImportSummary['returned']>;

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
  const seen = new Set<string>();
  const onWritten = ({ row, written: { id, status } }: WrittenRow) => {
    // A dry run rolls back what it creates. Somebody whom the file calls inactive has not come back.
    if (!id || (dry_run && status === 'created') || row.values.status === 'inactive') return;
    if (!target.keysOfWritten) seen.add(id);
    else for (const key of target.keysOfWritten(row.values, id)) seen.add(key);
  };
  const outcome = await runImport(store, { ...job, onWritten });
  missing ??= brought.filter(({ id }) => !seen.has(id));
  // Who is in a row that failed is not known.
  if (target.keysOfWritten && outcome.results.counts.failed > 0) missing = [];
  rejectTooMany(missing, brought.length, options, target, 'The rows of the file were imported.');
  const returned = await recordSeen(store, job, target, options.source, [...seen]);
  const leavers = await removeLeavers(store, target, missing, options, change, dry_run);
  return { ...outcome, leavers, returned };
}

/** Remembers whom the source brought, and returns those who are back. A dry run reads them from one copy of the database. */
async function recordSeen(
  { dryRun, write }: Store,
  { options, change }: ImportJob,
  target: SyncTarget,
  source: string,
  ids: readonly string[],
): Promise<Returned> {
  const parts = Array.from({ length: Math.ceil(ids.length / recordedAtOnce) }, (_, i) =>
    ids.slice(i * recordedAtOnce, (i + 1) * recordedAtOnce),
  );
  const record = (db: Transaction<Tables>, part: readonly string[]) =>
    target.record(db, source, part, change());
  const returned: Returned = [];
  if (!options.dry_run) for (const part of parts) returned.push(...(await write((db) => record(db, part))));
  else if (!target.keysOfWritten)
    await dryRun(async (db) => {
      for (const part of parts) returned.push(...(await record(db, part)));
    });
  return returned;
}

/** Reads the keys of all rows, also of those that will fail: a person with an invalid phone number has not left. */
async function addKeysOfFile({ importable, source, options, recognition }: ImportJob, keys: Set<string>) {
  const { columns } = await scanFile(importable, source, options.mode, recognition);
  const parse = createRowParser(importable, columns, source.isTable);
  for await (const rows of source.rows()) {
    for (const row of rows) {
      if (row.isHeader || row.skipped !== undefined) continue;
      const parsed = parse(row, 0);
      if (parsed.isUnreadable)
        throw new Problem(
          'import_refused',
          `Line ${row.line} cannot be read, so it is not known who is missing in the file. Nothing was changed. ${parsed.errors[0]?.detail ?? ''}`,
        );
      for (const key of uniqueKeysOf(parsed, importable)) keys.add(key);
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
  leavers: readonly Synced[],
  { source, handoverTo }: SyncOptions,
  change: () => Change,
  isDryRun: boolean,
): Promise<Leavers> {
  const results: Leavers = [];
  const remove = (leaver: Synced) => (db: Transaction<Tables>) =>
    target.remove(db, source, leaver, handoverTo, {
      ...change(),
      reason: `No longer in the source ${source}.`,
    });
  for (const leaver of leavers) {
    const { id, label: name } = leaver;
    try {
      if (!isDryRun) await store.write(remove(leaver));
      results.push({ id, name });
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
      results.push({ id, name, error: error.message });
    }
  }
  return results;
}
