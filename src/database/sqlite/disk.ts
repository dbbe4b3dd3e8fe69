import { access, constants, statfs } from 'node:fs/promises';
import { Problem } from '../../core/errors.ts';

/** With less than this the next writes, or the copy of the log into the database, may find no room. */
const minFreeBytes = 1024 * 1024;
/** Anyone may ask whether the service is ready, as often as they like. */
const cachedMs = 1000;

/** Makes a function that rejects with a Problem when the disk or the file takes no writes. It writes nothing itself. */
export function diskCheck(file: string): () => Promise<void> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let result = Promise.resolve();
  return () => {
    if (performance.now() - checkedAt > cachedMs) {
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
  // Some blocks are reserved for root.
  const freeBytes = bsize * (process.getuid?.() === 0 ? bfree : bavail);
  if (freeBytes < minFreeBytes) throw notWritable('The disk of the service is full, so writes fail.');
}

const notWritable = (detail: string, cause?: unknown) =>
  new Problem('unavailable', detail, { cause, headers: { 'retry-after': '5' } });
