import { access, constants, statfs } from 'node:fs/promises';
import { Problem } from '../../core/errors.ts';

/** With less space, the next write or checkpoint may fail. */
const minFreeBytes = 1024 * 1024;
/** `/readyz` needs no key and may be called often, so the result is cached. */
const cacheMs = 1000;

/** Returns a check that rejects with a Problem if the disk is full or the file is read-only. It does not write. */
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

async function check(file: string): Promise<void> {
  await access(file, constants.W_OK).catch((cause) => {
    throw notWritable('The database file is read-only, so writes fail.', cause);
  });
  const { bsize, bfree, bavail } = await statfs(file);
  // Only root may use the reserved blocks.
  const freeBytes = bsize * (process.getuid?.() === 0 ? bfree : bavail);
  if (freeBytes < minFreeBytes) throw notWritable('The disk of the service is full, so writes fail.');
}

const notWritable = (detail: string, cause?: unknown) =>
  new Problem('unavailable', detail, { cause, headers: { 'retry-after': '5' } });
