import { type Kysely, type RawBuilder, sql } from 'kysely';
import { endOf } from '../../../core/clock.ts';
import { inJsonArray, jsonObject, jsonTexts, notIndexed } from '../../../database/sql/functions.ts';
import type { ListRow, RowsQuery } from '../../../lists/list.ts';
import type { Tables } from '../../../store/tables.ts';
import { countedRows } from '../counted-rows.ts';
import {
  endOfRegister,
  isDefault,
  type Movement,
  type Register,
  registerRows,
  riskConditions,
  riskRows,
  storedRisks,
} from '../register.ts';
import { countRanges } from '../summaries.ts';
import { changedSince, dependsOnDay, inProjects, projectsArchivedSince } from './versions.ts';

/**
 * Adds to each risk its rank in the same register at the end of an earlier day. The rows of a page get it together; a whole
 * list joins the ranks of all risks.
 */
export const movementSince = (register: Register, since: string, isPage: boolean): Movement =>
  isPage
    ? { since, extend: (db, rows) => addMovement(db, register, since, rows) }
    : {
        since,
        fields: { movement: joinedMovement(register, since) },
        joins: joinRanks(register, since),
      };

async function addMovement(db: Kysely<Tables>, register: Register, since: string, rows: ListRow[]) {
  if (rows.length === 0) return rows;
  const ids = rows.map(({ json }) => JSON.parse(json).id as string);
  const isOnPage = inJsonArray(sql.ref('risks.id'), ids);
  const isShown = riskConditions({ ...register, as_of: since });
  const currentRows = await db
    .selectFrom(storedRisks(endOfRegister(register)))
    .select(['risks.id', 'risks.rank_key', reasonSince(register, since).as('reason')])
    .where(isOnPage)
    .execute();
  const earlierRows = await riskRows(db, endOf(since, register.moment))
    .select(['risks.id', 'risks.rank_key', 'risks.score'])
    .select(sql<number>`case when ${isShown} then 1 else 0 end`.as('shown'))
    .where(isOnPage)
    .execute();
  const currentRisks = new Map(currentRows.map((risk) => [risk.id, risk]));
  const earlierRisks = new Map(earlierRows.map((risk) => [risk.id, risk]));
  const keys = [...currentRows, ...earlierRows.filter(({ shown }) => shown === 1)].map(
    ({ rank_key }) => rank_key,
  );
  const ranks = await ranksOf(db, register, since, [...new Set<string>(keys)].sort(byBytes));
  return rows.map((row, i) => {
    const id = ids[i] ?? '';
    const { rank_key, score = null, shown } = earlierRisks.get(id) ?? {};
    const rank_then = shown === 1 ? (ranks.get(rank_key)?.earlier ?? null) : null;
    const current = currentRisks.get(id);
    const delta = rank_then === null ? null : rank_then - (ranks.get(current?.rank_key ?? '')?.current ?? 0);
    const reason = current?.reason ?? null;
    const movement = JSON.stringify({ rank_then, score_then: score, delta, reason });
    return { ...row, json: `${row.json.slice(0, -1)},"movement":${movement}}` };
  });
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Rows that count in the current register, in the earlier one, or negatively. */
type Source = { rows: RowsQuery; current: number; earlier: number };

/** For sorted rank keys: the ranks of risks with these keys, now and at the end of an earlier day. */
async function ranksOf(
  db: Kysely<Tables>,
  register: Register,
  since: string,
  keys: readonly string[],
): Promise<Map<string, { current: number; earlier: number }>> {
  const past = { ...register, as_of: since };
  if (register.as_of || dependsOnDay(register)) {
    return countUpToKeys(db, keys, [
      { rows: countedRows(db, register), current: 1, earlier: 0 },
      { rows: countedRows(db, past), current: 0, earlier: 1 },
    ]);
  }
  // Most risks have not changed, so the earlier register is the current one with a few differences.
  const projects = await projectsArchivedSince(db, register, since);
  const within = inProjects(projects, false);
  const end = endOf(since, register.moment);
  const wasValid = sql<boolean>`risks.updated_at < ${end} and risks.valid_until >= ${end}`;
  const differences: Source[] = [
    ...changedSince(since, register.moment).map((isChanged) => ({
      rows: countedRows(db, register).where(within).where(isChanged),
      current: 0,
      earlier: -1,
    })),
    { rows: countedRows(db, past, 'past_risks').where(within).where(wasValid), current: 0, earlier: 1 },
  ];
  if (projects.length > 0) {
    const inChanged = inProjects(projects, true);
    differences.push({ rows: countedRows(db, register).where(inChanged), current: 0, earlier: -1 });
    differences.push({ rows: countedRows(db, past).where(inChanged), current: 0, earlier: 1 });
  }
  if (!isDefault(register))
    return countUpToKeys(db, keys, [
      { rows: countedRows(db, register), current: 1, earlier: 1 },
      ...differences,
    ]);
  const counts = await countRanges(
    db,
    keys.map((to, i) => ({ after: keys[i - 1] ?? '', to })),
  );
  const ranks = await countUpToKeys(db, keys, differences);
  let before = 0;
  for (const [i, key] of keys.entries()) {
    before += counts[i] ?? 0;
    ranks.set(key, { current: before, earlier: before + (ranks.get(key)?.earlier ?? 0) });
  }
  return ranks;
}

/** Counts the rows whose rank keys are not after each of these keys. Sorts the rows once, for any number of keys. */
async function countUpToKeys(db: Kysely<Tables>, keys: readonly string[], sources: readonly Source[]) {
  const last = keys.at(-1) ?? '';
  const counted = sources.map(
    ({ rows, current, earlier }) =>
      sql`select * from (${rows
        .select([
          'risks.rank_key',
          sql.lit(current).as('current'),
          sql.lit(earlier).as('earlier'),
          sql.lit(0).as('is_key'),
        ])
        .where(sql<boolean>`${notIndexed(sql.ref('risks.rank_key'))} <= ${last}`)}) as source`,
  );
  const given = sql`select value, 0, 0, 1 from ${jsonTexts(sql`${JSON.stringify(keys)}`)} as keys`;
  const { rows } = await sql<{ rank_key: string; current: number; earlier: number }>`
    select rank_key, "current", "earlier" from (
      select rank_key, is_key, sum("current") over (order by rank_key) as "current",
        sum("earlier") over (order by rank_key) as "earlier"
      from (${sql.join([...counted, given], sql` union all `)}) as counted) as summed
    where is_key = 1`.execute(db);
  return new Map(rows.map(({ rank_key, current, earlier }) => [rank_key, { current, earlier }]));
}

/** Joins to each risk its rank in the same register at the end of an earlier day. */
const joinRanks = (register: Register, day: string) => (rows: RowsQuery, db: Kysely<Tables>) =>
  rows
    .leftJoin(ranks(db, { ...register, as_of: day }).as('then'), (join) =>
      join.onRef('then.id', '=', 'risks.id'),
    )
    .leftJoin(ranks(db, register).as('now'), (join) => join.onRef('now.id', '=', 'risks.id'));

const ranks = (db: Kysely<Tables>, register: Register) =>
  registerRows(db, register).select([
    sql.ref('risks.id').as('id'),
    sql<number>`row_number() over (order by risks.rank_key)`.as('rank'),
  ]);

const joinedMovement = (register: Register, day: string) =>
  jsonObject({
    rank_then: sql`"then".rank`,
    score_then: scoreBefore(endOf(day, register.moment)),
    delta: sql`"then".rank - "now".rank`,
    reason: reasonSince(register, day),
  });

/** Why the rating of a risk was last changed between the end of a day and the day of the register. */
function reasonSince(register: Register, day: string): RawBuilder<string | null> {
  const end = endOfRegister(register);
  const isBefore = end === undefined ? sql`` : sql`and history.at < ${end}`;
  return sql`(select history.reason from history where history.subject_id = risks.id
    and history.field in ('probability', 'impact') and history.at >= ${endOf(day, register.moment)} ${isBefore}
    order by history.at desc, history.id desc limit 1)`;
}

/** The score that a risk had before this instant, also if the risk did not match the filters then. */
const scoreBefore = (end: string) => sql`coalesce(
  (select current.score from risks as current where current.id = risks.id and current.updated_at < ${end}),
  (select past.score from past_risks as past where past.id = risks.id
    and past.updated_at < ${end} and past.valid_until >= ${end}))`;
