import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { Problem, unavailable } from '../../../core/errors.ts';
import type { Tables } from '../../tables.ts';
import { hasLock, lockFolder, restoreFolder } from './restore.ts';

/** Maximum number of concurrent copies: each uses as much disk space as the database. */
const maxCopies = 2;

/** Free disk space that a copy needs to grow: a fraction of the database plus a minimum. */
const growthFactor = 0.25;
const minGrowthBytes = 64 * 1024 * 1024;

let copies = 0;

/**
 * Copies a snapshot of the database into a folder beside it that only the owner may read. It uses a read transaction, so
 * writers do not wait. `copier` is a connection in a worker thread.
 */
export async function copyDatabase(
  file: string,
  copier: Kysely<Tables>,
): Promise<{ file: string; remove(): void }> {
  if (copies >= maxCopies) throw unavailable('Too many dry runs are in progress. Try again shortly.', 5);
  assertDiskSpace(file);
  copies++;
  let folder: string | undefined;
  let lock: ReturnType<typeof lockFolder>;
  const remove = () => {
    copies--;
    lock?.release();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = mkdtempSync(`${prefixOf(file)}${process.pid}-`);
    lock = lockFolder(folder);
    const copy = join(folder, 'copy.db');
    closeSync(openSync(copy, 'wx', 0o600));
    await sql`vacuum into ${copy}`.execute(copier);
    return { file: copy, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function assertDiskSpace(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const { size } = statSync(file);
  const logSize = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const needed = (size + logSize) * (1 + growthFactor) + minGrowthBytes;
  if (bavail * bsize > needed) return;
  throw new Problem(
    'storage_full',
    `A dry run needs room for a copy of the database: ${Math.ceil(needed / 1024 / 1024)} MiB of free disk space. Nothing was changed.`,
  );
}

const prefixOf = (file: string) => `${file}-dry-run-`;

/** Removes copies and unfinished restores that killed processes left behind. */
export function removeOldCopies(file: string): void {
  for (const prefix of [prefixOf(file), restoreFolder(file)].map((path) => basename(path))) {
    for (const name of namesIn(dirname(file))) {
      const pid = Number(name.startsWith(prefix) && name.slice(prefix.length).split('-')[0]);
      const folder = join(dirname(file), name);
      if (pid > 0 && isAbandoned(folder, pid)) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** The process that uses a folder holds a lock in it. Folders of version 0.3.0 and before have none. */
function isAbandoned(folder: string, pid: number): boolean {
  if (!hasLock(folder)) return pid === process.pid || !isRunning(pid);
  const lock = lockFolder(folder);
  lock?.release();
  return lock !== undefined;
}

/** Empty if the folder cannot be read: opening the database reports that. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
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
