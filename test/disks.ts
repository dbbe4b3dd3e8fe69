import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Mounts a small file system of its own, or skips the test and gives undefined where that is not allowed. */
export function mountSmallDisk(t: TestContext, size: string): string | undefined {
  if (process.getuid?.() !== 0) {
    t.skip('only root can mount the small file system that this test fills');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'muster-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(folder);
    t.skip(`a small file system cannot be mounted here: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** A file of such a disk that can only be read by those who open it from now on; not even root may write to it. */
export function mountReadOnly(file: string): void {
  execFileSync('mount', ['--bind', file, file]);
  execFileSync('mount', ['-o', 'remount,ro,bind', file]);
}
