import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { isBackup } from '../http/ops/backups.ts';

/** A new file in the folder of backups, and how to delete those beyond the number to keep. */
export function scheduledBackup(
  { backup_dir: folder }: Pick<Config, 'backup_dir'>,
  keep: string,
  output: string | undefined,
  now = systemClock().now,
): { file: string; deleteOld(): void } {
  if (!/^[1-9]\d{0,4}$/.test(keep))
    throw new UsageError(`--keep is “${keep}” but must be a whole number from 1 to 99999.`);
  if (output !== undefined) throw new UsageError('Give either --keep or --output.');
  if (!folder) throw new UsageError('--keep needs a folder for backups. Set MUSTER_BACKUP_DIR.');
  createFolder(folder);
  const file = `muster-${now.slice(0, 19).replace(/[-:]/g, '')}Z.backup`;
  return {
    file: join(folder, file),
    deleteOld() {
      // The new one stays, also if the clock was ahead when others were written.
      const others = readdirSync(folder).filter((name) => isBackup(name) && name !== file);
      for (const name of others
        .sort()
        .toReversed()
        .slice(Number(keep) - 1))
        rmSync(join(folder, name), { force: true });
    },
  };
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `MUSTER_BACKUP_DIR: the folder ${folder} cannot be created (${code}). Name a folder that this user can write to.`,
      { cause: error },
    );
  }
}
