import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../core/errors.ts';
import { flush } from '../database/backup/file.ts';

/** Writes to a temporary name and renames at the end, so that a file is complete or absent. */
export async function writeOutput(
  content: Readable,
  output: string | undefined,
  options: { flush?: boolean; mode?: number } = {},
): Promise<void> {
  if (output === undefined || output === '-') return pipeline(content, process.stdout, { end: false });
  const unfinished = `${output}.part`;
  try {
    // What a killed command has left may have another mode.
    await rm(unfinished, { force: true });
    await pipeline(content, createWriteStream(unfinished, { flags: 'wx', ...options }));
    await rename(unfinished, output);
    if (options.flush) flush(dirname(output));
  } catch (error) {
    await rm(unfinished, { force: true });
    if (error instanceof Error && 'syscall' in error) {
      throw new UsageError(`The file ${output} cannot be written (${error.message}).`, { cause: error });
    }
    throw error;
  }
}
