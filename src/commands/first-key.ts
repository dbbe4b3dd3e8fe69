import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import type { Moment } from '../core/clock.ts';
import { Problem, UsageError } from '../core/errors.ts';
import type { Database } from '../database/open.ts';
import { createFirstKey } from '../resources/keys/queries.ts';
import { createLink } from '../store/access/links.ts';

/** What the first start shows: a key and a link that signs a browser in with it, or the file that has the key. */
export type First = { key: string; link: string; file?: undefined } | { key?: undefined; file: string };

/** Creates a key if there is none. Returns undefined if there is one. */
export async function createFirst(
  database: Database,
  moment: Moment,
  file: string | undefined,
): Promise<First | undefined> {
  // Where a file would be lost and logs keep what is printed, the operator creates the first key.
  if (file === 'off') return undefined;
  if (file !== undefined) return (await writeFirstKey(database, moment, file)) ? { file } : undefined;
  return database.write(async (db) => {
    const key = await createFirstKey(db, moment);
    if (!key) return undefined;
    const { token } = await createLink(
      db,
      { purpose: 'sign_in', key_id: key.id, user_id: null },
      { now: moment.now, hours: 1 },
    );
    return { key: key.secret, link: token };
  });
}

/**
 * Writes the file before the key is stored, so that there is never a key that nobody gets to know. Only the instance that
 * creates the key touches the file, while others wait for its transaction.
 */
async function writeFirstKey(database: Database, moment: Moment, file: string): Promise<boolean> {
  const existing = await database.db.selectFrom('keys').select('id').limit(1).executeTakeFirst();
  if (existing) return false;
  let descriptor: number | undefined;
  let isWritten = false;
  try {
    isWritten = await database.write(async (db) => {
      const key = await createFirstKey(db, moment);
      if (!key) return false;
      descriptor ??= openEmpty(file);
      // From the start of the file, because the transaction may run again.
      writeSync(descriptor, `${key.secret}\n`, 0);
      fsyncSync(descriptor);
      return true;
    });
  } catch (error) {
    // The key may have been stored, and nobody else knows it.
    isWritten = error instanceof Problem && error.extra.may_be_saved === true;
    throw error;
  } finally {
    if (descriptor !== undefined) {
      closeSync(descriptor);
      if (!isWritten) rmSync(file, { force: true });
    }
  }
  return isWritten;
}

/** Creates the file. An empty one, which a start that was killed may have left, is used too. */
function openEmpty(file: string): number {
  try {
    const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    if (fstatSync(descriptor).size === 0) {
      fchmodSync(descriptor, 0o600);
      return descriptor;
    }
    closeSync(descriptor);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `MUSTER_FIRST_KEY_FILE: ${file} cannot be created (${code}). Name a file in a folder that the service can write to.`,
    );
  }
  throw new UsageError(
    `MUSTER_FIRST_KEY_FILE: ${file} exists already. Remove it, because it would be the key of another database.`,
  );
}
