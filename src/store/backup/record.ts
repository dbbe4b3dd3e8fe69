import type { Kysely } from 'kysely';
import type { Database } from '../../database/open.ts';
import { readSettings, storeSettings } from '../settings.ts';
import type { Tables } from '../tables.ts';
import { lockTables } from '../writes/locks.ts';

/** The last backups, which any process may have made. Null before the first one. */
export type BackupRecord = { succeeded_at: string | null; bytes: number | null; failed_at: string | null };

/** Stored for all instances, because the service often cannot read the folder of the backups. */
export async function recordBackup({ write }: Database, record: Partial<BackupRecord>): Promise<void> {
  const values = Object.entries(record).map(([name, value]) => [`backup_${name}`, String(value)]);
  await write(async (db) => {
    await lockTables(db, 'settings');
    await storeSettings(db, Object.fromEntries(values));
  });
}

export async function readBackupRecord(db: Kysely<Tables>): Promise<BackupRecord> {
  const stored = await readSettings(db);
  const bytes = stored.get('backup_bytes');
  return {
    succeeded_at: stored.get('backup_succeeded_at') ?? null,
    bytes: bytes === undefined ? null : Number(bytes),
    failed_at: stored.get('backup_failed_at') ?? null,
  };
}
