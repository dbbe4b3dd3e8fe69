import { sql, type Transaction } from 'kysely';
import { readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { differencesBetween } from '../../store/writes/history.ts';
import { chunk } from '../../store/writes/rows.ts';
import { issueWrites } from '../issues/queries.ts';
import type { Issue } from '../issues/schema.ts';
import { createItem } from '../project-items/create.ts';
import { saveItems } from '../project-items/update.ts';
import { assertWritable } from '../projects/lock.ts';
import { taskSubject, taskWrites } from '../tasks/queries.ts';
import type { Task } from '../tasks/schema.ts';
import { assertTransition } from '../validation.ts';
import { changeRisk } from './queries.ts';
import { severityOf } from './rules/scoring.ts';
import { clearStaleRiskFields, riskTransitions } from './rules/transitions.ts';
import type { MaterializeInput, Risk } from './schema.ts';

type Materialized = { risk: Risk; issue: Issue; moved_tasks?: number };

/** Creates an issue from a risk that has occurred, and sets the risk to `materialized` in the same transaction. */
export async function materializeRisk(
  db: Transaction<Tables>,
  current: Risk,
  input: MaterializeInput,
  change: Change,
): Promise<Materialized> {
  await assertWritable(db, current.project_id);
  assertTransition(riskTransitions, current, 'materialized');
  const model = await readRiskModel(db);
  const { title, description, owner_user_id, owner_group_id } = current;
  const { reason, move_tasks, ...overrides } = input;
  const issue = await createItem(
    db,
    issueWrites,
    current.project_id,
    {
      title,
      description,
      severity: severityOf(model, current.impact),
      owner_user_id,
      owner_group_id,
      raised_by_user_id: change.user_id,
      ...overrides,
      risk_id: current.id,
    },
    change,
  );
  // Before the risk is changed, which is read with the number of its tasks.
  const moved = move_tasks ? { moved_tasks: await moveTasks(db, current, issue, { ...change, reason }) } : {};
  const next = clearStaleRiskFields(current, { ...current, status: 'materialized' });
  const risk = await changeRisk(db, current, next, { ...change, reason });
  return { risk, issue, ...moved };
}

/** Tasks that are read and written at a time. */
const maxTasks = 250;

/** Moves the open tasks of a risk to its issue. Those of another issue stay. Returns how many were moved. */
async function moveTasks(
  db: Transaction<Tables>,
  risk: Risk,
  issue: Issue,
  { reason, ...change }: Change,
): Promise<number> {
  const rows = await taskSubject
    .from(db)
    .select(taskSubject.json(change).as('json'))
    .where(sql<boolean>`tasks.risk_id = ${risk.id} and tasks.issue_id is null and tasks.open = 1`)
    .orderBy(sql`tasks.id`)
    .execute();
  for (const batch of chunk(rows, maxTasks)) {
    const changes = batch.map(({ json }) => {
      const current: Task = JSON.parse(json);
      const kind = current.kind === 'mitigation' ? 'resolution' : current.kind;
      const next = { ...current, risk_id: null, issue_id: issue.id, kind };
      const differences = differencesBetween(current, next, ['risk_id', 'issue_id', 'kind']);
      return { current, next, differences, reason };
    });
    await saveItems(db, taskWrites, changes, change);
  }
  return rows.length;
}
