import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Puts a file on disk, or the names in a folder: without that, a new name may be lost with the power. */
export function flush(path: string): void {
  const opened = openSync(path, 'r');
  fsyncSync(opened);
  closeSync(opened);
}
