import type { Kysely } from 'kysely';
import { inUse } from '../core/errors.ts';
import { grants } from '../core/scopes.ts';
import type { Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import { findReferrers, type Reference } from '../store/writes/references.ts';

const personnelTables = ['people', 'groups'];

/**
 * Throws 409 if other rows refer to a person or group. Items of projects are counted and named only for a key that may
 * read them; another key learns that there are some, because it cannot delete the row.
 */
export async function rejectReferenced(
  db: Kysely<Tables>,
  what: string,
  references: readonly Reference[],
  { scopes }: Change,
  advice?: string,
): Promise<void> {
  const referrers = await findReferrers(db, references);
  if (!referrers) return;
  if (grants(scopes, 'projects.read')) throw inUse(what, referrers, advice);
  const visible = Object.entries(referrers).filter(([table]) => personnelTables.includes(table));
  const hasHidden = visible.length < Object.keys(referrers).length;
  const hidden = hasHidden
    ? 'items of projects, which your key cannot read (scope projects.read)'
    : undefined;
  throw inUse(what, Object.fromEntries(visible), advice, hidden);
}
