import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { readBackupRecord } from '../../store/backup/record.ts';
import type { Tables } from '../../store/tables.ts';

/** The names of scheduled backups, which sort by time. Others in the folder are not touched. */
export const isBackup = (name: string): boolean => /^muster-\d{8}T\d{6}Z\.backup$/.test(name);

/**
 * When the newest backup was made, in milliseconds; 0 if there is none. `muster backup` stores it in the database; other
 * tools may leave a `.backup` file in the folder.
 */
export async function newestBackup(db: Kysely<Tables>, folder: string | undefined): Promise<number> {
  const { succeeded_at } = await readBackupRecord(db);
  const names = folder ? (await readdir(folder)).filter((name) => name.endsWith('.backup')) : [];
  const files = names.map((name) => stat(join(folder ?? '', name)).catch(() => undefined));
  // A link to nothing is no backup, and a date in the future does not tell when one was made.
  const times = (await Promise.all(files)).flatMap((file) => file?.mtimeMs ?? []);
  const now = Date.now();
  const past = [...times, Date.parse(succeeded_at ?? '')].filter((time) => time < now + clocksDifferMs);
  return Math.min(now, Math.max(0, ...past));
}

/** The clock of another machine may be ahead by this much. */
const clocksDifferMs = 60_000;
