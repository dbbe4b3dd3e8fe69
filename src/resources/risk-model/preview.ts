import { type Kysely, sql } from 'kysely';
import { readSettings } from '../../store/settings.ts';
import type { Tables } from '../../store/tables.ts';
import { ratingColumns } from '../risks/rules/score-columns.ts';
import { anyDiffers, changedColumns, type ModelChange, mappedIssues, mappedRisks } from './mapping.ts';
import { mapAppetite } from './rules.ts';
import { type LevelId, levels, type RiskModelChange } from './schema.ts';

type Changes = RiskModelChange['changes'];

/** The appetites that a change of the model sets, by project. */
type Appetites = Map<string, { before: number; after: number }>;

/** What a change of the model would change. Writes nothing. */
export async function previewChange(
  db: Kysely<Tables>,
  change: ModelChange,
): Promise<{ changes: Changes; appetites: Appetites }> {
  const { before, after } = await readAppetites(db, change);
  const changed = [...before].filter(([id, appetite]) => after.get(id) !== appetite);
  const appetites: Appetites = new Map(
    changed.map(([id, appetite]) => [id, { before: appetite, after: after.get(id) ?? appetite }]),
  );
  const groups = await countGroups(db, change);
  const total = (field: keyof Counts, matches: (group: Group) => boolean = () => true) =>
    groups.reduce((sum, group) => sum + (matches(group) ? Number(group[field]) : 0), 0);
  const isActive = ({ active }: Group) => active === 1;
  const isActiveThreat = ({ active, kind }: Group) => active === 1 && kind === 'threat';
  const ratings = total('ratings');
  return {
    appetites,
    changes: {
      risks: total('risks'),
      ratings,
      scores: total('scores'),
      levels: total('levels'),
      raised: total('count', ({ level, new_level }) => rankOf(new_level) > rankOf(level)),
      lowered: total('count', ({ level, new_level }) => rankOf(new_level) < rankOf(level)),
      initial_scores: total('initial_scores'),
      ranks: ratings > 0 ? await countRanks(db, change) : 0,
      by_level: levels
        .toReversed()
        .map((level) => ({
          level,
          before: total('count', (group) => isActive(group) && group.level === level),
          after: total('count', (group) => isActive(group) && group.new_level === level),
        }))
        .filter(({ level, before }) => before > 0 || change.to.levels.some((one) => one.level === level)),
      above_appetite: {
        before: total(
          'count',
          (group) => isActiveThreat(group) && (group.score ?? 0) > (before.get(group.project_id) ?? 0),
        ),
        after: total(
          'count',
          (group) => isActiveThreat(group) && (group.new_score ?? 0) > (after.get(group.project_id) ?? 0),
        ),
      },
      appetites: groupAppetites(appetites),
      issues: (await findIssues(db, change)).length,
      views: await findViews(db),
    },
  };
}

const rankOf = (level: LevelId | null) => (level === null ? -1 : levels.indexOf(level));

type Counts = Record<'count' | 'risks' | 'ratings' | 'scores' | 'levels' | 'initial_scores', number>;

type Group = Counts & {
  project_id: string;
  kind: string;
  active: number;
  score: number | null;
  new_score: number | null;
  level: LevelId | null;
  new_level: LevelId | null;
};

/** Reads all risks once: everything but the ranks follows from these counts. */
async function countGroups(db: Kysely<Tables>, change: ModelChange): Promise<Group[]> {
  const conditions = {
    risks: anyDiffers(changedColumns),
    ratings: anyDiffers(ratingColumns),
    scores: anyDiffers(['score', 'residual_score']),
    levels: anyDiffers(['level', 'residual_level']),
    initial_scores: anyDiffers(['initial_score']),
  };
  const counts = Object.entries(conditions).map(
    ([name, condition]) => sql`count(case when ${condition} then 1 end) as ${sql.ref(name)}`,
  );
  const by = sql`project_id, kind, active, score, new_score, level, new_level`;
  const { rows } = await sql<Group>`select ${by}, count(*) as count, ${sql.join(counts)}
    from ${mappedRisks(change)} as mapped group by ${by}`.execute(db);
  return rows;
}

/** Counts the risks of the default register whose place changes. */
async function countRanks(db: Kysely<Tables>, change: ModelChange): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select row_number() over (order by rank_key) as before, row_number() over (order by new_rank_key) as after
    from ${mappedRisks(change, { matches: sql`risks.active = 1` })} as mapped
    where project_id in (select id from projects where archived_at is null)) as ranked
    where before <> after`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** The ids of the risks that change, in order. */
export async function findRisks(db: Kysely<Tables>, change: ModelChange): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from ${mappedRisks(change)} as mapped
    where ${anyDiffers(changedColumns)} order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** The issues that change, with their new severities. */
export const findIssues = async (db: Kysely<Tables>, change: ModelChange) =>
  (await mappedIssues(change).execute(db)).rows;

/**
 * The appetite of each project before and after. A change that returns to an earlier version also restores an appetite that
 * nobody has changed since.
 */
async function readAppetites(db: Kysely<Tables>, { restore, ...mapping }: ModelChange) {
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
  { since, changes }: NonNullable<ModelChange['restore']>,
): Promise<Map<string, number | undefined>> {
  // Without the whole history since then, nobody knows who has changed an appetite.
  if (since < ((await readSettings(db)).get('history_start') ?? '')) return new Map();
  const entries = await db
    .selectFrom('history')
    .select(['subject_id', 'at', 'from'])
    .where('subject_id', 'in', (eb) => eb.selectFrom('projects').select('id'))
    .where('field', '=', 'appetite')
    .where('at', '>=', since)
    .orderBy('at')
    .orderBy('id')
    .execute();
  const former = new Map<string, number | undefined>();
  const lastChange = new Map<string, string>();
  for (const { subject_id, at, from } of entries) {
    // Of several changes at the time of one of the model, that of the model came first.
    const isOfModel = changes.includes(at) && lastChange.get(subject_id) !== at;
    lastChange.set(subject_id, at);
    if (!isOfModel) former.set(subject_id, undefined);
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
