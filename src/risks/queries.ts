import { type Expression, type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { jsonArrayOf, jsonBoolean } from '../database/functions.ts';
import { missingReferences, refuseDuplicate, toGroup, toPerson, toRisk } from '../database/references.ts';
import { newStamps, rowAsJson, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { fieldFault, invalidBody, invalidParameter, notFound } from '../errors.ts';
import { newId } from '../ids.ts';
import { allOf, contains, equals, from, holds, isIn, isNull, since } from '../lists/filters.ts';
import { count, type List, type Order } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { type AcrossProjects, nextKey, projectConditions } from '../projects/queries.ts';
import { fold, foldAll } from '../text.ts';
import { activeStatuses, type projectRiskFilters, RankedRisk, Risk, RiskInput } from './schema.ts';
import { scoreOf } from './scoring.ts';

export type RiskFilters = AcrossProjects & Filters<typeof projectRiskFilters>;

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
export function riskList(filters: RiskFilters, sort: string, moment: Moment): List {
  const matches = conditions(filters, moment);
  const order = riskOrders[sort];
  if (!order) throw invalidParameter('sort', `There is no order ${sort}.`);
  return {
    schema: RankedRisk,
    json: riskJson,
    reads: ['risks', 'projects', 'people', 'groups', 'issues', 'tasks'],
    order,
    ranked: sort === 'rank',
    from: riskRows,
    id: sql.ref('risks.id'),
    matches,
    meta: async (db) => ({ unassessed: await count(riskRows(db).where(matches).where(isUnassessed)) }),
  };
}

export async function getRisk(db: Kysely<Tables>, project: string, ref: string): Promise<Risk> {
  const { json } = await riskRows(db)
    .select(riskJson.as('json'))
    .where((eb) => eb.or([eb('projects.id', '=', project), eb('projects.key', '=', project)]))
    .where((eb) => eb.or([eb('risks.id', '=', ref), eb('risks.key', '=', ref)]))
    .executeTakeFirstOrThrow(() => notFound('risk', `${ref} in the project ${project}`));
  return JSON.parse(json);
}

export async function createRisk(
  db: Transaction<Tables>,
  project: string,
  input: RiskInput,
  moment: Moment,
): Promise<Risk> {
  const { project_id, key } = await nextKey(db, project, 'risks_made');
  const faults = await missingReferences(db, input, {
    owner_user_id: toPerson,
    owner_group_id: toGroup,
    raised_by_user_id: toPerson,
  });
  if (input.owner_user_id && input.owner_group_id) {
    faults.push(
      fieldFault('owner_group_id', 'two_owners', 'A risk is owned by a person or by a group, not by both.'),
    );
  }
  if (input.due_on && input.due_on < (input.raised_on ?? moment.today)) {
    faults.push(fieldFault('due_on', 'date_order', '`due_on` is before the day the risk was raised.'));
  }
  if (faults.length > 0) throw invalidBody(faults);
  const same = sql<boolean>`external_id = ${input.external_id} and project_id = ${project_id}`;
  await refuseDuplicate(db, toRisk, 'external_id', input.external_id, same);
  const id = newId('risk');
  await db
    .insertInto('risks')
    .values(riskRow({ id, project_id, key }, input, moment))
    .execute();
  return getRisk(db, project_id, id);
}

/** A new risk as it is stored. */
export function riskRow(
  identity: { id: string; project_id: string; key: string },
  input: RiskInput,
  { now, today }: Moment,
) {
  return {
    ...identity,
    ...storedFields(RiskInput, input),
    raised_on: input.raised_on ?? today,
    initial_score: scoreOf(input.probability ?? null, input.impact ?? null),
    accepted_until: null,
    acceptance_reason: null,
    accepted_by_user_id: null,
    closure_reason: null,
    lessons: null,
    search_folded: foldAll([identity.key, input.title, input.description]),
    ...newStamps(now),
  };
}

/** In the order of ranks those without a score are the last, so that an index finds and counts them. */
const isUnassessed = sql<boolean>`risks.rank_key >= '99'`;

const riskRows = (db: Kysely<Tables>) =>
  db
    .selectFrom('risks')
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .leftJoin('people as owner', 'owner.user_id', 'risks.owner_user_id')
    .leftJoin('groups as owner_group', 'owner_group.id', 'risks.owner_group_id');

const riskJson = rowAsJson(Risk, 'risks', {
  project_key: sql.ref('projects.key'),
  project_name: sql.ref('projects.name'),
  owner_name: sql`coalesce(owner.name, owner_group.name)`,
  owner_active: jsonBoolean(sql`owner.status = 'active'`),
  issue_ids: sql`(select ${jsonArrayOf(sql.ref('issues.id'), sql.ref('issues.id'))}
    from issues where issues.risk_id = risks.id)`,
  tasks_total: sql`(select count(*) from tasks where tasks.risk_id = risks.id)`,
  tasks_done: sql`(select count(*) from tasks where tasks.risk_id = risks.id and tasks.status = 'done')`,
});

function conditions(filters: RiskFilters, { today }: Moment) {
  if (
    filters.min_score !== undefined &&
    filters.max_score !== undefined &&
    filters.min_score > filters.max_score
  ) {
    throw invalidParameter('min_score', '`min_score` is above `max_score`: no risk can match.');
  }
  return allOf(filters, {
    ...projectConditions,
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
    owner_group_id: isIn('risks.owner_group_id'),
    unowned: holds(sql<boolean>`${isNull('risks.owner_user_id')} and ${isNull('risks.owner_group_id')}`),
    assessed: holds(sql<boolean>`not (${isUnassessed})`),
    above_appetite: holds(sql<boolean>`coalesce(risks.score, 0) > projects.appetite`),
    review_overdue: holds(
      sql<boolean>`risks.active = 1 and coalesce(risks.review_on, '9999-99-99') < ${today}`,
    ),
    due_before: (day) => sql<boolean>`risks.due_on < ${day}`,
    due_after: (day) => sql<boolean>`risks.due_on > ${day}`,
    raised_since: from('risks.raised_on'),
    updated_since: since('risks.updated_at'),
    external_id: equals('risks.external_id'),
    q: (text) => contains('risks.search_folded', fold(text)),
  });
}

/** `active` alone is what the index of the register is made for. */
function hasStatus(wanted: readonly string[]): Expression<boolean> {
  if (wanted.includes('all')) return sql`1 = 1`;
  const isActive = sql<boolean>`risks.active = 1`;
  const named = wanted.filter((status) => status !== 'active');
  if (named.length === 0) return isActive;
  const isNamed = isIn('risks.status')(named);
  if (wanted.includes('active')) return sql`(${isActive} or ${isNamed})`;
  const allActive = named.every((status) => activeStatuses.some((active) => active === status));
  return allActive ? sql`(${isActive} and ${isNamed})` : isNamed;
}
