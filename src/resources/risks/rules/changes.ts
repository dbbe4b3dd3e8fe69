import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { inJsonArray, jsonArrayOf } from '../../../database/sql/functions.ts';
import type { Order, RowsQuery, Walk } from '../../../lists/list.ts';
import { byText, type Direction, missing } from '../../../lists/orders.ts';
import type { Tables } from '../../../store/tables.ts';
import type { changes } from '../schema.ts';

type Change = (typeof changes)[number];

/**
 * The filter `change`: any of these changes since the end of a day, which is before this instant. `isRare` if few risks have
 * changed like this, so that they are found first. Otherwise each risk is asked, because a page is full after a few.
 */
export type ChangeFilter = { any: readonly Change[]; before: string; isRare: boolean };

const maxRare = 5_000;

/** Selects the scores that were replaced since, one for each risk that existed. An index finds them. */
const replacedScores = (before: string) => sql`(
  select past.id, past.score from past_risks as past where past.valid_until >= ${before} and past.updated_at < ${before})`;

/** The changed ones among rows under the name `later`: the versions of risks that are compared. */
function changedRows(change: Change, before: string, rows: Expression<unknown>): RawBuilder<unknown> {
  if (change === 'new') return sql`${rows} where later.created_at >= ${before}`;
  const differs = change === 'up' ? sql`later.score > earlier.score` : sql`later.score < earlier.score`;
  return sql`${replacedScores(before)} as earlier join ${rows} on later.id = earlier.id where ${differs}`;
}

/** Counts the changed risks, but no more than it takes to know. */
export async function isRareChange(
  db: Kysely<Tables>,
  { any, before }: Omit<ChangeFilter, 'isRare'>,
  rows: Expression<unknown>,
): Promise<boolean> {
  const counts = any.map(
    (change) =>
      sql`(select count(*) from (select 1 from ${changedRows(change, before, rows)} limit ${sql.lit(maxRare)}) as found)`,
  );
  const { rows: counted } = await sql<{
    count: number;
  }>`select ${sql.join(counts, sql` + `)} as count`.execute(db);
  return Number(counted[0]?.count) < maxRare;
}

/** Whether a risk has changed like this. */
export function hasChanged(
  { any, before, isRare }: ChangeFilter,
  rows: Expression<unknown>,
): RawBuilder<boolean> {
  const conditions = any.map((change) => {
    const id = sql.ref('later.id');
    const changed = changedRows(change, before, rows);
    // As an array, so that the planner expects few ids and looks these risks up, instead of reading all.
    if (isRare)
      return inJsonArray(sql.ref('risks.id'), sql<string>`(select ${jsonArrayOf(id, id)} from ${changed})`);
    if (change === 'new') return sql<boolean>`risks.created_at >= ${before}`;
    const differs = change === 'up' ? sql`risks.score > earlier.score` : sql`risks.score < earlier.score`;
    return sql<boolean>`exists (select 1 from ${replacedScores(before)} as earlier
      where earlier.id = risks.id and ${differs})`;
  });
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/**
 * The orders by the change of the score since the end of a day. Risks whose score is the same come last in both. They are
 * most, so a list in which most risks match walks the few others first, and then the ranking without them.
 */
export function changeOrders(before: string, tie: RawBuilder<string>): Record<'change' | '-change', Order> {
  const earlier = replacedScores(before);
  const isChanged = sql<boolean>`earlier.id = risks.id and earlier.score <> risks.score`;
  const joins = (rows: RowsQuery) =>
    rows.leftJoin(earlier.as('earlier') as never, (join) => join.on(isChanged));
  // From 100 to 198, so that the order of the texts is that of the numbers.
  const difference = sql<string>`cast(149 + risks.score - earlier.score as text)`;
  const changed: Walk = {
    rows: (db) =>
      (db.selectFrom(earlier.as('earlier') as never) as RowsQuery)
        .innerJoin('risks', (join) => join.on(isChanged))
        .innerJoin('projects', 'projects.id', 'risks.project_id'),
    key: difference,
    isJoined: true,
  };
  const unchanged = (direction: Direction): Walk => ({
    rows: (db: Kysely<Tables>) =>
      (db.selectFrom('risks').innerJoin('projects', 'projects.id', 'risks.project_id') as RowsQuery).where(
        sql<boolean>`not exists (select 1 from ${earlier} as earlier where ${isChanged})`,
      ),
    key: sql`cast(${sql.lit(missing[direction])} as text)`,
    isTied: true,
    isJoined: true,
  });
  return byText('change', tie, difference, (direction) => ({
    joins,
    walks: [changed, unchanged(direction)],
  }));
}
