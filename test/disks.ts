import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Mounts a small file system. Without permission it skips the test and returns undefined. */
export function mountSmallDisk(t: TestContext, size: string): string | undefined {
  if (process.getuid?.() !== 0) {
    t.skip('needs root to mount a small file system');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'muster-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(folder);
    t.skip(`cannot mount a small file system: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Makes a file read-only for all processes that open it from now on, root included. */
export function mountReadOnly(file: string): void {
  execFileSync('mount', ['--bind', file, file]);
  execFileSync('mount', ['-o', 'remount,ro,bind', file]);
}
