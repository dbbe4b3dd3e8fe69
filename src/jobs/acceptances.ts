import type { Moment } from '../core/clock.ts';
import type { Database } from '../database/open.ts';
import { expireSomeAcceptances, hasExpiredAcceptances } from '../resources/risks/expiry.ts';

/** Reopens risks whose acceptance has expired. Takes the write lock only if there are any. */
export async function expireAcceptances({ db, write }: Pick<Database, 'db' | 'write'>, moment: Moment) {
  while (await hasExpiredAcceptances(db, moment))
    await write((db) => expireSomeAcceptances(db, moment), 'bulk');
}
