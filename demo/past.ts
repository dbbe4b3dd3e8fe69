import { type Differences, differencesBetween } from '../src/database/writes/history.ts';
import type { Dataset, Row } from './dataset.ts';

/** How a thing was from a time on, and who made it so. The first stage of a thing is how it was made. */
export type Stage = { at: string; state: object; key_name: string; reason?: string | null };

/** What is remembered of a thing that went through these stages. */
export function historyOf(
  dataset: Dataset,
  { id, key }: { id: string; key: string },
  stages: readonly Stage[],
): Row<'history'>[] {
  return stages.flatMap((stage, i) => {
    const before = stages[i - 1]?.state;
    const differences = before
      ? differencesBetween(before, stage.state, Object.keys(stage.state))
      : { created: { from: null, to: key } };
    return entriesOf(dataset, id, stage, differences);
  });
}

/** The stamps of a thing that has gone through these stages. */
export const stampsAfter = (created_at: string, stages: readonly Stage[]) => ({
  version: stages.length,
  created_at,
  updated_at: stages.at(-1)?.at ?? created_at,
});

function entriesOf(
  dataset: Dataset,
  subject_id: string,
  { at, key_name, reason = null }: Stage,
  differences: Differences,
): Row<'history'>[] {
  const changes = Object.entries(differences);
  // Ids of one time differ only by chance; in order, they keep the fields in theirs.
  const ids = changes.map(() => dataset.id('history', at)).sort();
  return changes.map(([field, { from, to }], i) => ({
    id: ids[i] ?? '',
    subject_id,
    at,
    key_id: null,
    key_name,
    field,
    from: JSON.stringify(from),
    to: JSON.stringify(to),
    reason,
  }));
}
