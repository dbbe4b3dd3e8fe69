import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { Problem } from '../../core/errors.ts';
import type { Tables } from '../tables.ts';

/** Copies of the database at the same time: each takes as much disk as the database. */
const maxCopies = 2;

/** A copy has room to grow by this share of the database, and by this much. */
const growth = 0.25;
const minGrowthBytes = 64 * 1024 * 1024;

let copies = 0;

/**
 * A copy of the database file as it is at one moment, in a folder beside it that only its owner may read. Writers do
 * not wait for it: the copy is made from a read transaction. `copier` is a connection in a thread.
 */
export async function copyDatabase(
  file: string,
  copier: Kysely<Tables>,
): Promise<{ file: string; remove(): void }> {
  if (copies >= maxCopies) {
    const detail = 'Other dry runs are under way. Try again shortly.';
    throw new Problem('unavailable', detail, { headers: { 'retry-after': '5' } });
  }
  assertRoom(file);
  copies++;
  let folder: string | undefined;
  const remove = () => {
    copies--;
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = mkdtempSync(`${prefixOf(file)}${process.pid}-`);
    const copy = join(folder, 'copy.db');
    closeSync(openSync(copy, 'wx', 0o600));
    await sql`vacuum into ${copy}`.execute(copier);
    return { file: copy, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function assertRoom(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const { size } = statSync(file);
  const logSize = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const needed = (size + logSize) * (1 + growth) + minGrowthBytes;
  if (bavail * bsize > needed) return;
  throw new Problem(
    'storage_full',
    `A dry run needs room for a copy of the database: ${Math.ceil(needed / 1024 / 1024)} MiB on its disk. Nothing was changed.`,
  );
}

const prefixOf = (file: string) => `${file}-rehearsal-`;

/** Removes copies that processes left behind when they were killed. */
export function removeOldCopies(file: string): void {
  const prefix = basename(prefixOf(file));
  const folder = dirname(file);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = Number(name.startsWith(prefix) && name.slice(prefix.length).split('-')[0]);
    if (pid > 0 && (pid === process.pid || !isRunning(pid)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
