import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates an empty folder for the data of a test. */
export const makeFolder = () => mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'muster-test-'));

const minFreeBytes = 4 * 1024 ** 3;

/** `/dev/shm` if it has enough space: SQLite flushes every commit, and test data need not be durable. */
export function parentFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize >= minFreeBytes) return '/dev/shm';
  } catch {
    // Only Linux has /dev/shm.
  }
  return tmpdir();
}
