import { access, constants, open, rm, statfs } from 'node:fs/promises';
import { unavailable } from '../../../core/errors.ts';

/** With less space, the next write or checkpoint may fail. */
const minFreeBytes = 1024 * 1024;
/** `/readyz` needs no key and may be called often, so the result is cached. */
const cacheMs = 1000;

/** Returns a check that rejects with a Problem if the disk is full or read-only. */
export function createDiskCheck(file: string): () => Promise<void> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let result = Promise.resolve();
  return () => {
    if (performance.now() - checkedAt > cacheMs) {
      checkedAt = performance.now();
      result = check(file);
      result.catch(() => {});
    }
    return result;
  };
}

/** The disk space that this user may use. */
export async function freeBytes(file: string): Promise<number> {
  const { bsize, bfree, bavail } = await statfs(file);
  // Only root may use the reserved blocks.
  return bsize * (process.getuid?.() === 0 ? bfree : bavail);
}

async function check(file: string): Promise<void> {
  await access(file, constants.W_OK).catch((cause) => {
    throw unavailable('The database file is read-only, so writes fail.', 5, cause);
  });
  await createProbe(`${file}-probe`);
  if ((await freeBytes(file)) < minFreeBytes)
    throw unavailable('The disk of the service is full, so writes fail.', 5);
}

/**
 * Creates and removes an empty file beside the database. Linux may stop writes to a file system after an error without
 * reporting it as read-only. The database file itself must not be opened here: closing it would release SQLite's locks.
 */
async function createProbe(probe: string): Promise<void> {
  try {
    await (await open(probe, 'w', 0o600)).close();
    await rm(probe);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A folder in which files may not be created is no obstacle: the database file and its log exist.
    if (code !== 'EACCES' && code !== 'EPERM')
      throw unavailable('The disk of the service accepts no writes.', 5, error);
  }
}
