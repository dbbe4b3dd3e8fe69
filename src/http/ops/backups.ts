import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The names of scheduled backups, which sort by time. Others in the folder are not touched. */
export const isBackup = (name: string): boolean => /^muster-\d{8}T\d{6}Z\.backup$/.test(name);

/** When the newest file was written that is a complete backup, in milliseconds; undefined if there is none. */
export async function newestBackup(folder: string): Promise<number | undefined> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.backup'));
  const times = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return times.length === 0 ? undefined : Math.max(...times);
}
