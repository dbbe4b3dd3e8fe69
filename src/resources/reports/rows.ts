import { type Kysely, sql } from 'kysely';
import type { Static, TObject } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { countRows, type List, listPage } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';

/** What a report is about: some projects, or all that are not archived, and the day that it compares with. */
export type Subject = { project: string[] | undefined; since: string; moment: Moment };

/** Reads lists as a page of the API does. `isFiltered` if rows of their tables may be hidden. */
export type Source = { db: Kysely<Tables>; isFiltered(tables: List['reads']): boolean };

export const inProjects = ({ project }: Pick<Subject, 'project'>) => ({
  ...(project && { project }),
  archived: 'false' as const,
});

/** The first rows of a list. */
export async function readRows<Row extends object>(
  { db, isFiltered }: Source,
  list: List,
  limit: number,
): Promise<Row[]> {
  // No index covers the project scope, and a walk would pass the rows of all other projects.
  const found = isFiltered(list.reads) ? { ...list, isIndexed: false, walksOrder: false } : list;
  const rows = await listPage(db, found, undefined, limit);
  return rows.map(({ json }) => JSON.parse(json));
}

/** The first rows of a list, and how many there are. */
export async function readFirst<Row extends TObject>(source: Source, list: List, schema: Row, limit: number) {
  const items = pickAll(schema, await readRows(source, list, limit));
  return { total: items.length < limit ? items.length : await countRows(source.db, list), items };
}

/** The fields of rows that a schema has. */
export function pickAll<Row extends TObject>(schema: Row, rows: readonly object[]): Static<Row>[] {
  const names = Object.keys(schema.properties);
  const pick = (row: object) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
  return rows.map((row) => pick(row) as Static<Row>);
}

type ScoredRisk = { id: string; score: number | null; created_at: string };

/**
 * Adds to each risk the score that it had before an instant, and why it was changed. Its rank then would take a scan of the
 * register.
 */
export async function withScoreThen<Risk extends ScoredRisk>(
  db: Kysely<Tables>,
  risks: readonly Risk[],
  before: string,
) {
  const replaced = await db
    .selectFrom('past_risks')
    .select(['id', 'score'])
    .where('valid_until', '>=', before)
    .where('updated_at', '<', before)
    .where(
      inJsonArray(
        sql.ref('past_risks.id'),
        risks.map(({ id }) => id),
      ),
    )
    .execute();
  const reasons = await db
    .selectFrom('history')
    .select(['subject_id', 'reason'])
    .where('field', 'in', ['probability', 'impact'])
    .where('at', '>=', before)
    .where(
      inJsonArray(
        sql.ref('history.subject_id'),
        risks.map(({ id }) => id),
      ),
    )
    .orderBy('at')
    .orderBy('id')
    .execute();
  const lastReasons = new Map(reasons.map(({ subject_id, reason }) => [subject_id, reason]));
  const scores = new Map(replaced.map(({ id, score }) => [id, score]));
  return risks.map((risk) => {
    const same = risk.created_at < before ? risk.score : null;
    const score_then = scores.has(risk.id) ? (scores.get(risk.id) ?? null) : same;
    const reason = lastReasons.get(risk.id) ?? null;
    return { ...risk, movement: { rank_then: null, score_then, delta: null, reason } };
  });
}
