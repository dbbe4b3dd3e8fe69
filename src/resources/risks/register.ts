import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { dayKey, endOf, type Moment } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import {
  consoleUrl,
  folded,
  foldedValues,
  jsonArrayOf,
  jsonBoolean,
  notIndexed,
} from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import {
  allOf,
  always,
  atLeast,
  equals,
  holds,
  isIn,
  isInactive,
  isNarrowedByIndex,
  isNull,
  since,
} from '../../lists/filters.ts';
import { type List, memoizedList, type Order, type RowsQuery, type Walk } from '../../lists/list.ts';
import { byKey, byText, twoDigits } from '../../lists/orders.ts';
import type { Filters } from '../../lists/query.ts';
import { modelVersion } from '../../store/risk-model.ts';
import type { TableName, Tables } from '../../store/tables.ts';
import { isOwnedBy, rejectLoneTransitive } from '../groups/membership.ts';
import {
  byName,
  commonOrders,
  findItems,
  ignoresStatusIndex,
  isNarrow,
  itemHasText,
  itemOrder,
  rankOf,
  scanOf,
} from '../project-items/order.ts';
import { joinOwner } from '../project-items/people.ts';
import { type AcrossProjects, isArchived, projectConditions } from '../projects/queries.ts';
import { maxScore } from '../risk-model/schema.ts';
import { type ChangeFilter, changeOrders, hasChanged } from './rules/changes.ts';
import { checkConditions, checksOfRisk } from './rules/checks.ts';
import { isUnassessed, scoresBetween } from './rules/ranking.ts';
import {
  activeStatuses,
  type projectRiskFilters,
  RankedRisk,
  Risk,
  riskResource,
  riskStatuses,
} from './schema.ts';

export type RiskFilters = AcrossProjects & Filters<typeof projectRiskFilters> & { change?: ChangeFilter };

/** A filtered register: the current one, or the register as of the end of a past day. */
export type Register = {
  filters: RiskFilters;
  moment: Moment;
  as_of?: string | undefined;
  /** The day that the orders by change compare with. */
  since?: string | undefined;
};

const rank = rankOf('risks');

/** Each category with its folded name, which is computed once and not for each risk. */
const joinCategories = (rows: RowsQuery) =>
  rows.leftJoin(foldedValues('risks', 'category').as('categories'), (join) =>
    join.on(sql<boolean>`categories.value = risks.category`),
  );
// A risk of a past day may have a category that no risk has now.
const foldedCategory = sql<string>`coalesce(categories.folded,
  case when risks.category is not null then ${folded(sql.ref('risks.category'))} end)`;

/** The sort orders of a list of risks. Rows have a rank only in the order `rank`. */
export const riskOrders: Record<string, Order> = {
  rank: { key: rank },
  score: byText('score', rank, twoDigits('risks.score')).score,
  // The ranking is by score first, and unassessed risks come last in it.
  '-score': { key: rank },
  ...byText('residual_score', rank, twoDigits('risks.residual_score')),
  ...commonOrders('risks', riskStatuses),
  ...byText('due_on', rank, sql.ref('risks.due_on')),
  ...byName('owner_name', 'risks', ['owner_user_id', 'owner_group_id']),
  ...byText('category', rank, foldedCategory, () => ({ joins: joinCategories })),
  ...byText('review_on', rank, sql.ref('risks.review_on')),
  ...byKey('raised_on', rank, sql.ref('risks.raised_on')),
  ...changeOrders('', rank),
};

/** The orders by change depend on the day that they compare with. */
const ordersOf = ({ since, moment }: Register) =>
  since === undefined ? riskOrders : { ...riskOrders, ...changeOrders(endOf(since, moment), rank) };

/** How a list gets the movement of its risks since a day: by joins, or for the rows of a page together. */
export type Movement = Pick<List, 'joins' | 'extend'> & {
  since: string;
  fields?: Record<string, Expression<unknown>>;
};

/** Lists risks, by default with the highest score first; unassessed risks come last. */
export function riskList(register: Register, sort: string, movement?: Movement): List {
  const { filters, moment, as_of } = register;
  const { joins, extend } = movement ?? {};
  const key = [
    'risks',
    filters,
    dayKey(moment),
    as_of,
    sort,
    register.since,
    movement?.since,
    Boolean(joins),
  ];
  return memoizedList(key, () => {
    const active = sql.ref('risks.active');
    const matches = riskConditions(
      register,
      ignoresStatusIndex(filters) || isNarrow(filters) ? notIndexed(active) : active,
    );
    const from: List['from'] = (db) => riskRows(db, endOfRegister(register));
    const end = endOfRegister(register);
    const order = itemOrder('risks', ordersOf(register), sort, filters);
    const found: Pick<List, 'id' | 'scan' | 'order' | 'walksOrder'> =
      end === undefined
        ? { ...findItems('risks', filters, isActiveOrAll(filters)), order }
        : {
            id: sql.ref('risks.id'),
            order: { ...order, walks: pastWalks(end, filters, order) },
            walksOrder: true,
          };
    return {
      schema: movement ? RankedRisk : UnmovedRisk,
      json: riskJson(momentOfRegister(register), movement?.fields, endOfRegister(register)),
      reads: as_of || movement || register.since ? riskTables : currentRiskTables,
      ranked: sort === 'rank',
      isIndexed: isIndexed(register, sort) && !movement,
      from,
      ...found,
      joins: (rows, db) => withOwner(joins?.(rows, db) ?? rows),
      ...(extend && { extend }),
      matches,
      counts: (db) => ({
        unassessed: countUnassessed(db, register, (found.scan ?? from)(db).where(matches)),
      }),
      ...(as_of && { meta: async () => ({ as_of }) }),
    };
  });
}

const currentRiskTables: readonly TableName[] = [
  'risks',
  'projects',
  'people',
  'groups',
  'memberships',
  'issues',
  'tasks',
  'risk_models',
];

/** The tables that a register depends on, including those of past days. */
export const riskTables: readonly TableName[] = [...currentRiskTables, 'past_risks', 'history'];

/** Whether an index yields the first rows in rank order, without sorting. */
function isIndexed({ filters, as_of }: Register, sort: string): boolean {
  const { status: _, archived, ...rest } = filters;
  const byIndex = ['project', 'owner_user_id', 'owner_group_id'];
  return (
    !as_of &&
    ['rank', '-score'].includes(sort) &&
    isActiveOrAll(filters) &&
    archived !== 'true' &&
    isNarrowedByIndex(rest, byIndex)
  );
}

const isActiveOrAll = ({ status }: RiskFilters) => ['active', 'all'].includes(String(status));

/**
 * Selects risks with their projects, now or as they were before the instant `end`. `past_risks` has the same columns as
 * `risks`, so it can replace it in the query.
 */
export function riskRows(
  db: Kysely<Tables>,
  end?: string,
  table: 'risks' | 'past_risks' = 'risks',
): RowsQuery {
  return db.selectFrom(storedRisks(end, table)).innerJoin('projects', 'projects.id', 'risks.project_id');
}

/** Adds what `riskJson` needs. */
export const withOwner = (rows: RowsQuery) => joinOwner(rows, 'risks');

export const storedRisks = (end: string | undefined, table: 'risks' | 'past_risks' = 'risks') =>
  (end ? risksBefore(end).as('risks') : `${table} as risks`) as 'risks';

/** A version is valid from its `updated_at` until the next version replaces it. */
function risksBefore(end: string): RawBuilder<unknown> {
  const columns = sql.join(riskColumns.map((column) => sql.ref(column)));
  return sql`(select ${columns} from risks where updated_at < ${end}
    union all
    select ${columns} from past_risks where updated_at < ${end} and valid_until >= ${end})`;
}

/**
 * The same rows in two parts, for which the planners find better plans: current versions that are old enough, and versions
 * that were replaced since, which are few.
 */
export function rowsBefore(db: Kysely<Tables>, end: string, filters: RiskFilters): RowsQuery[] {
  const began = sql<boolean>`risks.updated_at < ${end}`;
  const current = isNarrow(filters) ? riskRows(db) : scanOf('risks', filters)(db);
  const past = riskRows(db, undefined, 'past_risks').where(atLeast('risks.valid_until')(end));
  return [current.where(began), past.where(began)];
}

const pastWalks = (end: string, filters: RiskFilters, { key }: Order): Walk[] =>
  [0, 1].map((part) => ({ key, rows: (db) => rowsBefore(db, end, filters)[part] as RowsQuery }));

const riskColumns = [...Object.keys(riskResource.columns), 'active'];

/** The end of the day that a past register shows. */
export const endOfRegister = ({ as_of, moment }: Pick<Register, 'as_of' | 'moment'>) =>
  as_of && endOf(as_of, moment);

/** The moment by which checks such as `due_overdue` are evaluated: the end of `as_of`, or now. */
export const momentOfRegister = ({ moment, as_of }: Register): Moment =>
  as_of && as_of < moment.today ? { ...moment, now: endOf(as_of, moment), today: as_of } : moment;

export const riskJson = (
  moment: Moment,
  more: Record<string, Expression<unknown>> = {},
  end: string | undefined = undefined,
) =>
  rowAsJson('movement' in more ? MovedRisk : Risk, 'risks', {
    project_key: sql.ref('projects.key'),
    project_name: sql.ref('projects.name'),
    owner_name: sql`coalesce(owner.name, owner_group.name)`,
    owner_active: jsonBoolean(sql`owner.status = 'active'`),
    issue_ids: sql`(select ${jsonArrayOf(sql.ref('issues.id'), sql.ref('issues.id'))}
      from issues where issues.risk_id = risks.id)`,
    tasks_total: sql`(select count(*) from tasks where tasks.risk_id = risks.id)`,
    tasks_done: sql`(select count(*) from tasks where tasks.risk_id = risks.id and tasks.status = 'done')`,
    checks: checksOfRisk(moment),
    model_version: modelVersion(end),
    web_url: consoleUrl('/risks/', sql.ref('risks.key')),
    ...more,
  });

/** A register without movement, so that its CSV and XLSX have no empty column. */
const { movement: _, ...unmoved } = RankedRisk.properties;
const UnmovedRisk = Strict(unmoved, { $id: 'RankedRisk' });

const MovedRisk = Strict({ ...Risk.properties, movement: RankedRisk.properties.movement });

/** Active risks of all projects that are not archived. Counters and indexes are made for this register. */
export function isDefault({ filters, as_of }: Register): boolean {
  const { status, archived, ...rest } = filters;
  return !as_of && String(status) === 'active' && archived === 'false' && Object.keys(rest).length === 0;
}

/** The default register uses the counters of the projects, so its cost does not grow with the number of risks. */
function countUnassessed(db: Kysely<Tables>, register: Register, rows: RowsQuery): Expression<unknown> {
  if (!isDefault(register)) return rows.where(isUnassessed).select(sql<number>`count(*)`.as('unassessed'));
  return db
    .selectFrom('projects')
    .select(sql<number>`coalesce(sum(unassessed_risks), 0)`.as('unassessed'))
    .where('archived_at', 'is', null);
}

/** Selects the rows of a register. */
export const registerRows = (db: Kysely<Tables>, register: Register) =>
  riskRows(db, endOfRegister(register)).where(riskConditions(register));

export function riskConditions(register: Register, active: Expression<unknown> = sql.ref('risks.active')) {
  const { filters, as_of } = register;
  const moment = momentOfRegister(register);
  if (as_of && as_of > register.moment.today) {
    throw invalidParameter('as_of', '`as_of` is in the future. Use today or an earlier day.');
  }
  rejectLoneTransitive(filters, 'owner_group_id');
  const conditions = checkConditions(moment, { isOwnerInactive: isInactive('risks.owner_user_id') });
  return allOf(filters, {
    ...projectConditions('risks.project_id'),
    ...(as_of && { archived: wasArchived(endOf(as_of, moment)) }),
    status: (statuses) => hasStatus(statuses, active),
    level: isIn('risks.level'),
    min_score: (score) => scoresBetween(score, maxScore),
    max_score: (score) => scoresBetween(1, score),
    probability: isIn('risks.probability'),
    impact: isIn('risks.impact'),
    kind: isIn('risks.kind'),
    category: isIn('risks.category'),
    strategy: isIn('risks.strategy'),
    owner_user_id: isIn('risks.owner_user_id'),
    owner_group_id: (ids) => isOwnedBy('risks', ids, filters.transitive ?? false),
    transitive: always,
    unowned: holds(sql<boolean>`${isNull('risks.owner_user_id')} and ${isNull('risks.owner_group_id')}`),
    assessed: holds(sql<boolean>`not (${isUnassessed})`),
    above_appetite: holds(
      sql<boolean>`risks.kind = 'threat' and coalesce(risks.score, 0) > projects.appetite`,
    ),
    review_overdue: holds(conditions.review_overdue),
    check: (checks) =>
      sql<boolean>`(${sql.join(
        checks.map((check) => conditions[check]),
        sql` and `,
      )})`,
    due_before: (day) => sql<boolean>`risks.due_on < ${day}`,
    due_after: (day) => sql<boolean>`risks.due_on > ${day}`,
    review_before: (day) => sql<boolean>`risks.review_on < ${day}`,
    review_after: (day) => sql<boolean>`risks.review_on > ${day}`,
    raised_since: atLeast('risks.raised_on'),
    updated_since: since('risks.updated_at'),
    external_id: equals('risks.external_id'),
    q: itemHasText('risks', filters.search),
    search: always,
    change: (change) => hasChanged(change, sql`${laterRisks(endOfRegister(register))}`),
  });
}

/** The rows of a register, to compare them with earlier ones. */
export const laterRisks = (end: string | undefined) =>
  end ? sql`${risksBefore(end)} as later` : sql`risks as later`;

/**
 * Whether the project was archived at a time: the last recorded change before it, or the first one after it, or else the
 * current state.
 */
const wasArchived = (time: string) => (archived: 'false' | 'true' | 'any') => {
  if (archived === 'any') return sql<boolean>`1 = 1`;
  const ofProject = sql`from history where subject_id = projects.id and field = 'archived_at'`;
  const value = sql`coalesce(
    (select history."to" ${ofProject} and history.at < ${time} order by history.at desc, history.id desc limit 1),
    (select history."from" ${ofProject} and history.at >= ${time} order by history.at, history.id limit 1),
    case when projects.archived_at is null then 'null' else 'archived' end)`;
  // The other values sort before. With `=`, PostgreSQL would expect few projects and read their risks one by one.
  return archived === 'true' ? sql<boolean>`${value} < 'null'` : sql<boolean>`${value} >= 'null'`;
};

/** Whether the filter `archived` includes a project, now or on the day of a past register. */
export const includesProject = (as_of: string | undefined, moment: Moment) =>
  as_of === undefined ? isArchived : wasArchived(endOf(as_of, moment));

/** Uses the partial index of active risks where possible. */
function hasStatus(statuses: readonly string[], active: Expression<unknown>): RawBuilder<boolean> {
  if (statuses.includes('all')) return sql`1 = 1`;
  const isActive = sql<boolean>`${active} = 1`;
  const named = statuses.filter((status) => status !== 'active');
  if (named.length === 0) return isActive;
  const isNamed = isIn('risks.status')(named);
  if (statuses.includes('active')) return sql`(${isActive} or ${isNamed})`;
  const isActiveStatus = (status: string) => activeStatuses.some((active) => active === status);
  if (named.every(isActiveStatus)) return sql`(${isActive} and ${isNamed})`;
  return named.some(isActiveStatus) ? isNamed : sql`(${active} = 0 and ${isNamed})`;
}
