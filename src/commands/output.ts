import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../core/errors.ts';
import { flush } from '../core/flush.ts';

/** Whether a command writes to standard output, where its report must not be. */
export const isStandardOutput = (output: string | undefined) =>
  output === undefined || output === '-' || descriptorOf(output) === 1;

/** A file is complete or absent. A pipe or a character device gets the content as it is; a link is followed. */
export async function writeOutput(
  content: Readable,
  output: string | undefined,
  options: { flush?: boolean; mode?: number } = {},
): Promise<void> {
  const isStandard = output === undefined || isStandardOutput(output);
  try {
    if (isStandard) for await (const chunk of content) await writeStandardOutput(chunk);
    else {
      const target = await targetOf(output);
      await (target.isFile ? replaceFile(content, target.path, options) : pipeline(content, target.stream));
    }
  } catch (error) {
    content.destroy();
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const what = isStandard ? 'Standard output' : `The file ${output}`;
    throw new UsageError(`${what} cannot be written (${error.message}).`, { cause: error });
  }
}

/** Resolves when the text is written. An error is also an event of the stream: see `main.ts`. */
export const writeStandardOutput = (text: string | Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });

/** Writes to a temporary name of its own, because two commands may write the same file, and renames at the end. */
async function replaceFile(
  content: Readable,
  path: string,
  options: { flush?: boolean; mode?: number },
): Promise<void> {
  const unfinished = join(dirname(path), `muster-${randomUUID()}.part`);
  try {
    await removeAbandoned(dirname(path));
    await pipeline(content, createWriteStream(unfinished, { flags: 'wx', ...options }));
    await rename(unfinished, path);
    if (options.flush) flush(dirname(path));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** A command writes all the time, so a file that nobody has written to for an hour is of a killed one. */
const abandonedAfterMs = 3_600_000;

async function removeAbandoned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((name) => /^muster-[\w.-]+\.part$/.test(name))) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > abandonedAfterMs) await rm(join(folder, name), { force: true });
  }
}

/** Only a regular file may be replaced: a new file in the place of `/dev/null` would break the whole system. */
async function targetOf(output: string) {
  const descriptor = descriptorOf(output);
  if (descriptor !== undefined)
    return { isFile: false as const, stream: createWriteStream('', { fd: descriptor }) };
  const found = await findTarget(output);
  if (!found || found.isFile())
    return { isFile: true as const, path: found ? await realpath(output) : output };
  if (!found.isFIFO() && !found.isCharacterDevice())
    throw new UsageError(
      `${output} is ${found.isDirectory() ? 'a folder' : found.isSocket() ? 'a socket' : 'a disk'}. Name a file.`,
    );
  const opened = await open(output, constants.O_WRONLY);
  return { isFile: false as const, stream: opened.createWriteStream() };
}

async function findTarget(output: string) {
  const isMissing = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  };
  const found = await stat(output).catch(isMissing);
  if (!found && (await lstat(output).catch(isMissing)))
    throw new UsageError(
      `${output} is a link to a file that does not exist. Remove the link, or name a file.`,
    );
  return found;
}

/** Names of open files, such as those that `>(command)` of a shell makes. They are written to, never opened again. */
function descriptorOf(output: string): number | undefined {
  if (output === '/dev/stdout') return 1;
  if (output === '/dev/stderr') return 2;
  const [, descriptor] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(output) ?? [];
  return descriptor === undefined ? undefined : Number(descriptor);
}
