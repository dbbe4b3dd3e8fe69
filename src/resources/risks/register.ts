import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import { jsonArrayOf, jsonBoolean, jsonObject } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { statement } from '../../database/sql/statement.ts';
import type { TableName, Tables } from '../../database/tables.ts';
import {
  allOf,
  always,
  equals,
  from,
  hasText,
  holds,
  isIn,
  isNarrowedByIndex,
  isNull,
  since,
} from '../../lists/filters.ts';
import { count, type List, memoizedList, type Order, type RowsQuery } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { isOwnedBy, rejectLoneTransitive } from '../groups/membership.ts';
import { type AcrossProjects, projectConditions } from '../projects/queries.ts';
import { checkConditions, checksOfRisk } from './checks.ts';
import { isUnassessed } from './ranking.ts';
import { activeStatuses, type projectRiskFilters, RankedRisk, Risk } from './schema.ts';

export type RiskFilters = AcrossProjects & Filters<typeof projectRiskFilters>;

/** Which register: of now or of the end of a day gone by. */
export type Register = { filters: RiskFilters; moment: Moment; as_of?: string | undefined };

/** The ways to order a list of risks; only the first is a ranking. */
export const riskOrders: Record<string, Order> = {
  rank: { key: sql.ref('risks.rank_key') },
  '-residual_score': {
    key: sql`coalesce(cast(10 + risks.residual_score as text), '00') || risks.id`,
    descending: true,
  },
  due_on: { key: sql`coalesce(risks.due_on, '9999-99-99') || risks.id` },
  '-updated_at': { key: sql`risks.updated_at || risks.id`, descending: true },
  raised_on: { key: sql`risks.raised_on || risks.id` },
};

/** Risks, highest score first unless sorted otherwise; those without a score come last. */
export const riskList = (register: Register, sort: string, movementSince?: string): List =>
  memoizedList(['risks', register.filters, register.moment.today, register.as_of, sort, movementSince], () =>
    newRiskList(register, sort, movementSince),
  );

function newRiskList(register: Register, sort: string, movementSince: string | undefined): List {
  const order = riskOrders[sort];
  if (!order) throw invalidParameter('sort', `There is no order ${sort}.`);
  const matches = riskConditions(register);
  const moment = momentIn(register);
  return {
    schema: RankedRisk,
    json: movementSince ? riskJson(moment, { movement }) : riskJson(moment),
    reads: register.as_of || movementSince ? riskTables : riskTablesOfNow,
    order,
    ranked: sort === 'rank',
    isIndexed: isIndexed(register, sort) && !movementSince,
    from: movementSince ? withMovement(register, movementSince) : (db) => riskRows(db, register.as_of),
    id: sql.ref('risks.id'),
    matches,
    meta: async (db) => ({
      ...(register.as_of && { as_of: register.as_of }),
      unassessed: await countUnassessed(db, register, matches),
    }),
  };
}

const riskTablesOfNow: readonly TableName[] = [
  'risks',
  'projects',
  'people',
  'groups',
  'memberships',
  'issues',
  'tasks',
];

/** What a register is read from that may look back. */
export const riskTables: readonly TableName[] = [...riskTablesOfNow, 'past_risks', 'history'];

/** Whether an index of the ranking leads straight to the first rows. */
function isIndexed({ filters, as_of }: Register, sort: string): boolean {
  const { status, archived, ...others } = filters;
  const byIndex = ['project', 'owner_user_id', 'owner_group_id'];
  return (
    !as_of &&
    sort === 'rank' &&
    ['active', 'all'].includes(String(status)) &&
    archived !== 'true' &&
    isNarrowedByIndex(others, byIndex)
  );
}

/**
 * Risks with what is shown beside them: as they are, or as they stood at the end of a day. Past versions have the same
 * columns, so that they can take the place of the risks.
 */
export function riskRows(
  db: Kysely<Tables>,
  as_of?: string,
  table: 'risks' | 'past_risks' = 'risks',
): RowsQuery {
  const risks = (as_of ? risksAt(as_of).as('risks') : `${table} as risks`) as 'risks';
  return db
    .selectFrom(risks)
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .leftJoin('people as owner', 'owner.user_id', 'risks.owner_user_id')
    .leftJoin('groups as owner_group', 'owner_group.id', 'risks.owner_group_id');
}

/** A version holds from its `updated_at` until another follows it. */
function risksAt(day: string): RawBuilder<unknown> {
  const end = endOf(day);
  const columns = sql.join(riskColumns.map((column) => sql.ref(column)));
  return sql`(select ${columns} from risks where updated_at < ${end}
    union all
    select ${columns} from past_risks where updated_at < ${end} and valid_until >= ${end})`;
}

const computed = new Set([
  'project_key',
  'project_name',
  'owner_name',
  'owner_active',
  'issue_ids',
  'tasks_total',
  'tasks_done',
  'checks',
]);
const riskColumns = [
  ...Object.keys(Risk.properties).filter((field) => !computed.has(field)),
  'active',
  'rank_key',
  'search_folded',
];

/** The first moment that is after the day. */
const endOf = (day: string) => `${daysLater(day, 1)}T00:00:00.000Z`;

/** What is overdue or expiring is judged by the day that is looked at. */
export const momentIn = ({ moment, as_of }: Register): Moment =>
  as_of && as_of < moment.today ? { now: endOf(as_of), today: as_of } : moment;

export const riskJson = (moment: Moment, more: Record<string, Expression<unknown>> = {}) =>
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
    ...more,
  });

const MovedRisk = Strict({ ...Risk.properties, movement: RankedRisk.properties.movement });

/** Adds, beside each risk, its place and score in the same register at the end of an earlier day. */
const withMovement = (register: Register, day: string) => (db: Kysely<Tables>) =>
  riskRows(db, register.as_of)
    .leftJoin(places(db, { ...register, as_of: day }).as('then'), (join) =>
      join.onRef('then.id', '=', 'risks.id'),
    )
    .leftJoin(places(db, register).as('now'), (join) => join.onRef('now.id', '=', 'risks.id'));

const places = (db: Kysely<Tables>, register: Register) =>
  riskRows(db, register.as_of)
    .where(riskConditions(register))
    .select([
      sql.ref('risks.id').as('id'),
      sql.ref('risks.score').as('score'),
      sql<number>`row_number() over (order by risks.rank_key)`.as('place'),
    ]);

const movement = jsonObject({
  rank_then: sql`"then".place`,
  score_then: sql`"then".score`,
  delta: sql`"then".place - "now".place`,
});

/** The default register is counted by the projects' own counters, whatever its size. */
async function countUnassessed(
  db: Kysely<Tables>,
  register: Register,
  matches: RawBuilder<boolean>,
): Promise<number> {
  const { status, archived, ...others } = register.filters;
  const isDefault =
    !register.as_of &&
    String(status) === 'active' &&
    archived === 'false' &&
    Object.keys(others).length === 0;
  if (!isDefault) return count(riskRows(db, register.as_of).where(matches).where(isUnassessed));
  const { rows } = await sumUnassessed(db);
  return rows[0]?.unassessed ?? 0;
}

const sumUnassessed = statement<{ unassessed: number | null }>((db) =>
  db
    .selectFrom('projects')
    .select((eb) => eb.fn.sum<number | null>('unassessed_risks').as('unassessed'))
    .where('archived_at', 'is', null),
);

export function riskConditions(register: Register) {
  const { filters, as_of } = register;
  const moment = momentIn(register);
  if (
    filters.min_score !== undefined &&
    filters.max_score !== undefined &&
    filters.min_score > filters.max_score
  ) {
    throw invalidParameter('min_score', '`min_score` is above `max_score`: no risk can match.');
  }
  if (as_of && as_of > register.moment.today) {
    throw invalidParameter('as_of', 'That day has not come yet. Give today or a day before.');
  }
  rejectLoneTransitive(filters, 'owner_group_id');
  const found = checkConditions(moment);
  return allOf(filters, {
    ...projectConditions('risks.project_id'),
    ...(as_of && { archived: wasArchived(endOf(as_of)) }),
    status: hasStatus,
    level: isIn('risks.level'),
    min_score: from('risks.score'),
    max_score: (score) => sql<boolean>`risks.score <= ${score}`,
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
    above_appetite: holds(sql<boolean>`coalesce(risks.score, 0) > projects.appetite`),
    review_overdue: holds(found.review_overdue),
    check: (wanted) =>
      sql<boolean>`(${sql.join(
        wanted.map((check) => found[check]),
        sql` and `,
      )})`,
    due_before: (day) => sql<boolean>`risks.due_on < ${day}`,
    due_after: (day) => sql<boolean>`risks.due_on > ${day}`,
    raised_since: from('risks.raised_on'),
    updated_since: since('risks.updated_at'),
    external_id: equals('risks.external_id'),
    q: hasText('risks.search_folded'),
  });
}

/** Whether the project was archived then: what its history says last before, or first after, or else what it is. */
const wasArchived = (then: string) => (archived: 'false' | 'true' | 'any') => {
  if (archived === 'any') return sql<boolean>`1 = 1`;
  const ofProject = sql`from history where subject_id = projects.id and field = 'archived_at'`;
  const value = sql`coalesce(
    (select history."to" ${ofProject} and history.at < ${then} order by history.id desc limit 1),
    (select history."from" ${ofProject} and history.at >= ${then} order by history.id limit 1),
    case when projects.archived_at is null then 'null' else 'then' end)`;
  return archived === 'true' ? sql<boolean>`${value} <> 'null'` : sql<boolean>`${value} = 'null'`;
};

/** `active` alone is what the index of the register is made for. */
function hasStatus(wanted: readonly string[]): RawBuilder<boolean> {
  if (wanted.includes('all')) return sql`1 = 1`;
  const isActive = sql<boolean>`risks.active = 1`;
  const named = wanted.filter((status) => status !== 'active');
  if (named.length === 0) return isActive;
  const isNamed = isIn('risks.status')(named);
  if (wanted.includes('active')) return sql`(${isActive} or ${isNamed})`;
  const allActive = named.every((status) => activeStatuses.some((active) => active === status));
  return allActive ? sql`(${isActive} and ${isNamed})` : isNamed;
}
