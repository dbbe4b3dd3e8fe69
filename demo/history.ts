import type { Differences } from '../src/store/writes/change.ts';
import { differencesBetween } from '../src/store/writes/history.ts';
import type { Dataset, Row } from './dataset.ts';

/** The state of a resource after one change, and the name of who made it. The first revision is the creation. */
export type Revision = { at: string; state: object; key_name: string; reason?: string | null };

/** Creates the history entries for the differences between consecutive revisions. */
export function createHistory(
  dataset: Dataset,
  { id, key }: { id: string; key: string },
  revisions: readonly Revision[],
): Row<'history'>[] {
  return revisions.flatMap((revision, i) => {
    const before = revisions[i - 1]?.state;
    const differences = before
      ? differencesBetween(before, revision.state, Object.keys(revision.state))
      : { created: { from: null, to: key } };
    return createEntries(dataset, id, revision, differences);
  });
}

export const getTimestamps = (created_at: string, revisions: readonly Revision[]) => ({
  version: revisions.length,
  created_at,
  updated_at: revisions.at(-1)?.at ?? created_at,
});

function createEntries(
  dataset: Dataset,
  subject_id: string,
  { at, key_name, reason = null }: Revision,
  differences: Differences,
): Row<'history'>[] {
  const changes = Object.entries(differences);
  // Ids of the same millisecond are in random order. Sorting them keeps the entries in field order.
  const ids = changes.map(() => dataset.id('history', at)).sort();
  return changes.map(([field, { from, to }], i) => ({
    id: ids[i] ?? '',
    subject_id,
    at,
    // Added when all people are known: see `organization.ts`.
    actor_user_id: null,
    key_id: null,
    key_name,
    field,
    from: JSON.stringify(from),
    to: JSON.stringify(to),
    reason,
  }));
}
