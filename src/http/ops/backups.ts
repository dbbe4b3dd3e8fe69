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
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder ?? '', name))).mtimeMs));
  return Math.max(0, succeeded_at === null ? 0 : Date.parse(succeeded_at), ...times);
}
