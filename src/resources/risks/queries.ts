import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { daily, type Moment } from '../../core/clock.ts';
import {
  type FieldError,
  fieldError,
  inUse,
  invalidBody,
  joined,
  notFound,
  type Problem,
} from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import type { Database } from '../../database/open.ts';
import { merged, newStamps, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../database/tables.ts';
import { bySystem, type Change } from '../../database/writes/change.ts';
import { type Created, unwrapSingle } from '../../database/writes/create-many.ts';
import {
  type Differences,
  differencesBetween,
  recordChanges,
  recordDeleted,
} from '../../database/writes/history.ts';
import {
  findReferrers,
  referenceErrors,
  rejectDuplicateExternalId,
  toGroup,
  toPerson,
  toRisk,
} from '../../database/writes/references.ts';
import {
  chunk,
  deleteRow,
  insertRows,
  notBefore,
  updateRow,
  WriteConflict,
} from '../../database/writes/rows.ts';
import { createIssue } from '../issues/queries.ts';
import type { Issue } from '../issues/schema.ts';
import { recount, riskDelta } from '../projects/counts.ts';
import { assertWritable, createInProject } from '../projects/queries.ts';
import { riskJson, riskRows } from './register.ts';
import { activeStatuses, type MaterializeInput, Risk, RiskInput, type RiskPatch } from './schema.ts';
import { scoreOf } from './scoring.ts';
import { assertRiskTransition, clearStaleRiskFields, riskStateErrors } from './transitions.ts';

export async function getRisk(
  db: Kysely<Tables>,
  project: string,
  ref: string,
  moment: Moment,
): Promise<Risk> {
  const { rows } = await riskByRef(moment)(db, { project, ref });
  const [row] = rows;
  if (!row) throw notFound('risk', `${ref} in the project ${project}`);
  return JSON.parse(row.json);
}

const riskByRef = daily((moment) =>
  statement<{ json: string }>((db) =>
    riskRows(db)
      .select(riskJson(moment).as('json'))
      .where(sql<boolean>`${param('project')} in (projects.id, projects.key)`)
      .where((eb) => eb.or([eb('risks.id', '=', param('ref')), eb('risks.key', '=', param('ref'))])),
  ),
);

export async function createRisk(
  db: Transaction<Tables>,
  project: string,
  input: RiskInput,
  change: Change,
): Promise<Risk> {
  const { id } = unwrapSingle(await createRisks(db, project, [input], change));
  return getRisk(db, project, id, change);
}

/** Makes those that can be made, and says why the others cannot. */
export const createRisks = (
  db: Transaction<Tables>,
  project: string,
  inputs: readonly RiskInput[],
  change: Change,
): Promise<(Created | Problem)[]> =>
  createInProject(
    db,
    project,
    inputs,
    {
      kind: 'risk',
      target: toRisk,
      errors: async () =>
        joined(
          await validate(db, inputs, change),
          inputs.map((input) => residualErrors(input, input)),
        ),
      row: (identity, input) => riskRow(identity, input, change),
      delta: ({ probability = null, impact = null }) => riskDelta(true, scoreOf(probability, impact)),
    },
    change,
  );

export async function updateRisk(
  db: Transaction<Tables>,
  current: Risk,
  { reason, ...patch }: RiskPatch,
  asked: Change,
): Promise<Risk> {
  const change = notBefore(asked, current);
  await assertWritable(db, current.project_id);
  const next = clearStaleRiskFields(current, merged(current, patch));
  if (next.status === 'materialized' && current.status !== 'materialized') {
    throw invalidBody([
      fieldError('status', 'own_action', 'A risk becomes an issue with `POST …/risks/{id}/materialize`.'),
    ]);
  }
  if (next.status !== current.status) assertRiskTransition(current.key, current.status, next.status);
  const stateErrors = riskStateErrors(current, next, reason, change.today);
  if (stateErrors.length > 0) throw invalidBody(stateErrors);
  const [errors = []] = await validate(db, [next], change);
  errors.push(...residualErrors(patch, next));
  if (errors.length > 0) throw invalidBody(errors);
  const differences = differencesBetween(current, next, Object.keys(Risk.properties));
  if ('external_id' in differences)
    await rejectDuplicateExternalId(db, toRisk, current.project_id, next.external_id);
  return changeRisk(db, current, next, differences, { ...asked, reason });
}

/** The risk has happened: makes the issue and moves the risk, both or neither. */
export async function materializeRisk(
  db: Transaction<Tables>,
  current: Risk,
  input: MaterializeInput,
  change: Change,
): Promise<{ risk: Risk; issue: Issue }> {
  await assertWritable(db, current.project_id);
  assertRiskTransition(current.key, current.status, 'materialized');
  const { reason, ...given } = input;
  const issue = await createIssue(
    db,
    current.project_id,
    {
      title: current.title,
      ...(current.description !== null && { description: current.description }),
      severity: severityOf(current.impact),
      ...(current.owner_user_id !== null && { owner_user_id: current.owner_user_id }),
      ...(current.owner_group_id !== null && { owner_group_id: current.owner_group_id }),
      ...given,
      risk_id: current.id,
    },
    change,
  );
  const next = clearStaleRiskFields(current, { ...current, status: 'materialized' });
  const differences = differencesBetween(current, next, Object.keys(Risk.properties));
  const risk = await changeRisk(db, current, next, differences, { ...change, reason });
  return { risk, issue };
}

/** Only a risk to which nothing belongs can be deleted. */
export async function deleteRisk(db: Transaction<Tables>, current: Risk, change: Change): Promise<void> {
  const { id, key, project_id } = current;
  await assertWritable(db, project_id);
  const users = await findReferrers(db, [
    ['issues', sql`risk_id = ${id}`],
    ['tasks', sql`risk_id = ${id}`],
  ]);
  if (users) throw inUse(`The risk ${key}`, users);
  await archiveVersion(db, id, notBefore(change, current).now);
  await deleteRow(db, 'risks', current);
  await recordDeleted(db, id, key, change);
  await recount(db, project_id, deltaOf(current), null);
}

/** Reopens risks whose acceptance has expired. Takes the write lock only if there are any. */
export async function expireAcceptances({ db, write }: Pick<Database, 'db' | 'write'>, moment: Moment) {
  const expired = await expiredAcceptances(db, moment);
  if (expired.length > 0) await write((db) => expireAcceptancesIn(db, moment));
}

/** Reopens risks whose acceptance has expired, in all projects or in one. Returns their keys. */
export async function expireAcceptancesIn(
  db: Transaction<Tables>,
  moment: Moment,
  project_id?: string,
): Promise<string[]> {
  const keys: string[] = [];
  for (const expired of await expiredAcceptances(db, moment, project_id)) {
    const { id, project_id, key, accepted_until } = expired;
    const current = await getRisk(db, project_id, id, moment);
    // Another instance may have been faster.
    if (current.status !== 'accepted') continue;
    const next = clearStaleRiskFields(current, { ...current, status: 'open' });
    const differences = differencesBetween(current, next, Object.keys(Risk.properties));
    await changeRisk(
      db,
      current,
      next,
      differences,
      bySystem(moment, `Accepted only until ${accepted_until}.`),
    );
    keys.push(key);
  }
  return keys;
}

const expiredAcceptances = (db: Kysely<Tables>, { today }: Moment, project_id?: string) =>
  db
    .selectFrom('risks')
    .select(['risks.id', 'project_id', 'risks.key', 'accepted_until'])
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .where('risks.status', '=', 'accepted')
    .where('accepted_until', '<', today)
    // An archived project stays as it is until it is unarchived.
    .where('archived_at', 'is', null)
    .$if(project_id !== undefined, (query) => query.where('project_id', '=', project_id as string))
    .execute();

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

async function changeRisk(
  db: Transaction<Tables>,
  current: Risk,
  next: Risk,
  differences: Differences,
  asked: Change,
): Promise<Risk> {
  if (Object.keys(differences).length === 0) return current;
  const change = notBefore(asked, current);
  await archiveVersion(db, current.id, change.now);
  const columns = {
    ...storedChanges(Risk, differences),
    initial_score: current.initial_score ?? scoreOf(next.probability, next.impact),
    search_folded: foldAll([next.key, next.title, next.description]),
  };
  await updateRow(db, 'risks', current, columns, change.now);
  await recordChanges(db, current.id, differences, change);
  const changed = await getRisk(db, current.project_id, current.id, asked);
  await recount(db, current.project_id, deltaOf(current), deltaOf(changed));
  return changed;
}

/** Keeps the version that is about to be followed by another, for looking back. */
async function archiveVersion(db: Transaction<Tables>, id: string, now: string): Promise<void> {
  const row = await db
    .selectFrom('risks')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => new WriteConflict());
  await insertRows(db, 'past_risks', [pastOf(row, now)]);
}

/** The same for many. */
export async function archiveVersions(
  db: Transaction<Tables>,
  ids: readonly string[],
  now: string,
): Promise<void> {
  for (const some of chunk(ids, 250)) {
    const rows = await db.selectFrom('risks').selectAll().where('id', 'in', some).execute();
    if (rows.length < some.length) throw new WriteConflict();
    await insertRows(
      db,
      'past_risks',
      rows.map((row) => pastOf(row, now)),
    );
  }
}

function pastOf(risk: Selectable<Tables['risks']>, now: string) {
  const { score, level, residual_score, residual_level, active, rank_key, ...row } = risk;
  return { ...(row as typeof risk), valid_until: now < row.updated_at ? row.updated_at : now };
}

const deltaOf = ({ status, score }: Risk) =>
  riskDelta(
    activeStatuses.some((active) => active === status),
    score,
  );

/** What the impact of a risk is as the severity of an issue. */
const severityOf = (impact: number | null): Issue['severity'] =>
  impact === 5 ? 'critical' : impact === 4 ? 'high' : impact === 3 || impact === null ? 'medium' : 'low';

type Residual = { residual_probability?: number | null; residual_impact?: number | null };

/**
 * A response does not make a risk worse. Only what is said of the residual is refused: when the risk itself has become
 * smaller since, a check of the register tells.
 */
function residualErrors(said: Residual, next: Omit<RiskInput, 'status'>): FieldError[] {
  const { probability = null, impact = null, residual_probability = null, residual_impact = null } = next;
  const score = scoreOf(probability, impact);
  const residual = scoreOf(residual_probability, residual_impact);
  const isSaid = said.residual_probability != null || said.residual_impact != null;
  if (!isSaid || score === null || residual === null || residual <= score) return [];
  const detail = `The residual score would be ${residual}, above the current ${score}: a response does not make a risk worse.`;
  return [fieldError('residual_probability', 'above_current', detail)];
}

async function validate(
  db: Kysely<Tables>,
  inputs: readonly Omit<RiskInput, 'status'>[],
  { today }: Moment,
): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, {
    owner_user_id: toPerson,
    owner_group_id: toGroup,
    raised_by_user_id: toPerson,
    accepted_by_user_id: toPerson,
  });
  for (const [i, { owner_user_id, owner_group_id, raised_on, due_on }] of inputs.entries()) {
    if (owner_user_id && owner_group_id) {
      const detail = 'A risk is owned by a person or by a group, not by both.';
      errors[i]?.push(fieldError('owner_group_id', 'two_owners', detail));
    }
    if (raised_on && raised_on > today) {
      errors[i]?.push(fieldError('raised_on', 'in_the_future', '`raised_on` has not come yet.'));
    }
    if (due_on && due_on < (raised_on ?? today)) {
      errors[i]?.push(fieldError('due_on', 'date_order', '`due_on` is before the day the risk was raised.'));
    }
  }
  return errors;
}
