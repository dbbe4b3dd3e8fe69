import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { inJsonArray, jsonArrayOf } from '../../../database/sql/functions.ts';
import type { Order, RowsQuery, Walk } from '../../../lists/list.ts';
import { byText, type Direction, missing } from '../../../lists/orders.ts';
import type { Tables } from '../../../store/tables.ts';
import type { changes } from '../schema.ts';

/** The filter `change`: any of these changes since the end of a day, which is before this instant. */
export type ChangeFilter = { any: readonly (typeof changes)[number][]; before: string };

/** Selects the scores that were replaced since, one for each risk that existed. An index finds them. */
const replacedScores = (before: string) => sql`(
  select past.id, past.score from past_risks as past where past.valid_until >= ${before} and past.updated_at < ${before})`;

/** Whether a risk has changed like this. `rows` are the versions of risks that are compared, under the name `later`. */
export function hasChanged({ any, before }: ChangeFilter, rows: Expression<unknown>): RawBuilder<boolean> {
  const conditions = any.map((change) => {
    const differs = change === 'up' ? sql`later.score > earlier.score` : sql`later.score < earlier.score`;
    const changed =
      change === 'new'
        ? sql`${rows} where later.created_at >= ${before}`
        : sql`${replacedScores(before)} as earlier join ${rows} on later.id = earlier.id where ${differs}`;
    const id = sql.ref('later.id');
    // As an array, so that the planner expects few ids and looks these risks up, instead of reading all.
    return inJsonArray(sql.ref('risks.id'), sql<string>`(select ${jsonArrayOf(id, id)} from ${changed})`);
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
