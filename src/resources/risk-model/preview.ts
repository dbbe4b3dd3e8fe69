import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../store/tables.ts';
import {
  anyDiffers,
  type Change,
  changedColumns,
  changesRisks,
  mappedIssues,
  mappedRisks,
  orderOf,
} from './mapping.ts';
import { mapAppetite } from './rules.ts';
import { levels, type RiskModelChange } from './schema.ts';

type Changes = RiskModelChange['changes'];

/** The appetites that a change of the model sets, by project. */
export type Appetites = Map<string, { before: number; after: number }>;

/** What a change of the model would change. Writes nothing. */
export async function previewChange(
  db: Kysely<Tables>,
  change: Change,
): Promise<{ changes: Changes; appetites: Appetites }> {
  const { before, after } = await readAppetites(db, change);
  const changed = [...before].filter(([id, appetite]) => after.get(id) !== appetite);
  const appetites: Appetites = new Map(
    changed.map(([id, appetite]) => [id, { before: appetite, after: after.get(id) ?? appetite }]),
  );
  const scores = changesRisks(change) ? await countChanges(db, change) : noChanges;
  return {
    appetites,
    changes: {
      ...scores,
      by_level: await countLevels(db, change),
      above_appetite: await countAbove(db, change, before, after),
      appetites: groupAppetites(appetites),
      issues: changesRisks(change) ? await countRows(db, mappedIssues(change)) : 0,
      views: await findViews(db),
    },
  };
}

const noChanges = {
  risks: 0,
  ratings: 0,
  scores: 0,
  levels: 0,
  raised: 0,
  lowered: 0,
  initial_scores: 0,
  ranks: 0,
};

async function countChanges(db: Kysely<Tables>, change: Change): Promise<typeof noChanges> {
  const ratings = ['probability', 'impact', 'residual_probability', 'residual_impact'];
  const conditions = {
    risks: anyDiffers(changedColumns),
    ratings: anyDiffers(ratings),
    scores: anyDiffers(['score', 'residual_score']),
    levels: anyDiffers(['level', 'residual_level']),
    raised: sql`${orderOf('new_level')} > ${orderOf('level')}`,
    lowered: sql`${orderOf('new_level')} < ${orderOf('level')}`,
    initial_scores: anyDiffers(['initial_score']),
  };
  const counts = Object.entries(conditions).map(
    ([name, condition]) => sql`count(case when ${condition} then 1 end) as ${sql.ref(name)}`,
  );
  const { rows } = await sql<Omit<typeof noChanges, 'ranks'>>`
    select ${sql.join(counts)} from ${mappedRisks(change)} as mapped`.execute(db);
  const [counted] = rows;
  const ranks = counted && counted.ratings > 0 ? await countRanks(db, change) : 0;
  return { ...noChanges, ...counted, ranks };
}

/** Counts the risks of the default register whose place changes. */
async function countRanks(db: Kysely<Tables>, change: Change): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select row_number() over (order by rank_key) as before, row_number() over (order by new_rank_key) as after
    from ${mappedRisks(change, sql`risks.active = 1`)} as mapped
    where project_id in (select id from projects where archived_at is null)) as ranked
    where before <> after`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

async function countLevels(db: Kysely<Tables>, change: Change): Promise<Changes['by_level']> {
  const { rows } = await sql<{ before: string | null; after: string | null; count: number }>`
    select level as before, new_level as after, count(*) as count
    from ${mappedRisks(change, sql`risks.active = 1`)} as mapped group by level, new_level`.execute(db);
  const total = (field: 'before' | 'after', level: string) =>
    rows.reduce((sum, row) => sum + (row[field] === level ? Number(row.count) : 0), 0);
  return levels
    .toReversed()
    .map((level) => ({ level, before: total('before', level), after: total('after', level) }))
    .filter(({ level, before }) => before > 0 || change.to.levels.some((one) => one.level === level));
}

async function countAbove(
  db: Kysely<Tables>,
  change: Change,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Promise<Changes['above_appetite']> {
  const { rows } = await sql<{ project_id: string; score: number; new_score: number; count: number }>`
    select project_id, score, new_score, count(*) as count
    from ${mappedRisks(change, sql`risks.active = 1`)} as mapped
    where score is not null group by project_id, score, new_score`.execute(db);
  const above = { before: 0, after: 0 };
  for (const { project_id, score, new_score, count } of rows) {
    if (score > (before.get(project_id) ?? 0)) above.before += Number(count);
    if (new_score > (after.get(project_id) ?? 0)) above.after += Number(count);
  }
  return above;
}

/**
 * The appetite of each project before and after. A change that returns to an earlier version also restores an appetite that
 * nobody has changed since.
 */
async function readAppetites(db: Kysely<Tables>, { restore, ...mapping }: Change) {
  const projects = await db.selectFrom('projects').select(['id', 'appetite']).execute();
  const former = restore ? await readFormer(db, restore) : new Map<string, number | undefined>();
  const mapped = new Map(
    [...new Set(projects.map(({ appetite }) => appetite))].map((one) => [one, mapAppetite(mapping, one)]),
  );
  return {
    before: new Map(projects.map(({ id, appetite }) => [id, appetite])),
    after: new Map(
      projects.map(({ id, appetite }) => [id, (former.get(id) ?? mapped.get(appetite)) as number]),
    ),
  };
}

/** The appetites before the change that is undone, by project; undefined for those that somebody has changed since. */
async function readFormer(
  db: Kysely<Tables>,
  { since, changes }: NonNullable<Change['restore']>,
): Promise<Map<string, number | undefined>> {
  const entries = await db
    .selectFrom('history')
    .select(['subject_id', 'at', 'from'])
    .where('subject_id', 'in', (eb) => eb.selectFrom('projects').select('id'))
    .where('field', '=', 'appetite')
    .where('at', '>=', since)
    .orderBy('id')
    .execute();
  const former = new Map<string, number | undefined>();
  for (const { subject_id, at, from } of entries) {
    if (!changes.includes(at)) former.set(subject_id, undefined);
    else if (!former.has(subject_id)) former.set(subject_id, Number(from));
  }
  const untouched = await db
    .selectFrom('projects')
    .select(['id', 'appetite'])
    .where('created_at', '<', since)
    .execute();
  for (const { id, appetite } of untouched) if (!former.has(id)) former.set(id, appetite);
  return former;
}

function groupAppetites(appetites: Appetites): Changes['appetites'] {
  const groups = Map.groupBy(appetites.values(), ({ before, after }) => `${before} ${after}`);
  return [...groups.values()]
    .flatMap(([first, ...others]) => (first ? [{ ...first, projects: others.length + 1 }] : []))
    .sort((a, b) => a.before - b.before || a.after - b.after);
}

async function countRows(db: Kysely<Tables>, rows: ReturnType<typeof mappedIssues>): Promise<number> {
  const counted = await sql<{ count: number }>`select count(*) as count from (${rows}) as counted`.execute(
    db,
  );
  return Number(counted.rows[0]?.count ?? 0);
}

const ratedFilters = ['probability', 'impact', 'level', 'min_score', 'max_score'];

/** The saved views of risks that filter by what a model decides. */
async function findViews(db: Kysely<Tables>): Promise<Changes['views']> {
  const views = await db
    .selectFrom('views')
    .select(['id', 'name', 'query'])
    .where('list', '=', 'risks')
    .orderBy('id')
    .execute();
  return views.filter(({ query }) => ratedFilters.some((name) => new URLSearchParams(query).has(name)));
}
