import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

type Test = Pick<TestContext, 'after' | 'skip'>;

/** Mounts a small file system. Without permission it skips the test and returns undefined. */
export const mountSmallDisk = (t: Test, size: string) =>
  mount(t, ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs']);

/**
 * Mounts an ext4 file system of 32 MiB in an image file. Linux remounts a file system read-only while files are open for
 * writing only after a file system error, which `mount -o remount,abort` causes.
 */
export function mountExt4(t: Test, image: string): string | undefined {
  writeFileSync(image, '');
  truncateSync(image, 32 * 1024 * 1024);
  return mount(t, ['-o', 'loop,errors=remount-ro', image], () =>
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'pipe' }),
  );
}

function mount(t: Test, args: string[], prepare = (): unknown => undefined): string | undefined {
  if (process.getuid?.() !== 0) {
    t.skip('needs root to mount a small file system');
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'muster-disk-'));
  try {
    prepare();
    execFileSync('mount', [...args, folder], { stdio: 'pipe' });
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
