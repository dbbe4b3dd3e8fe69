import type { Transaction } from 'kysely';
import { type Moment, momentOf } from '../src/core/clock.ts';
import type { Database } from '../src/database/open.ts';
import { createComment } from '../src/resources/comments/queries.ts';
import { getIssue, issueWrites } from '../src/resources/issues/queries.ts';
import { updateItem } from '../src/resources/project-items/update.ts';
import { lockProject } from '../src/resources/projects/lock.ts';
import { getTask, taskWrites } from '../src/resources/tasks/queries.ts';
import type { Tables } from '../src/store/tables.ts';
import { bySystem, type Change } from '../src/store/writes/change.ts';

type Item = { id: string; project_id: string };
type Step = (db: Transaction<Tables>, change: Change) => Promise<unknown>;

/** Adds the work of the last hours: comments and changes with their events, as clients would make them. */
export async function addActivity(database: Database, moment: Moment): Promise<void> {
  const { db } = database;
  const risks = await db
    .selectFrom('risks')
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .select(['risks.id', 'risks.project_id'])
    .where('risks.active', '=', 1)
    .where('projects.archived_at', 'is', null)
    .orderBy('risks.rank_key')
    .limit(3)
    .execute();
  const issues = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.project_id'])
    .where('issues.status', '=', 'open')
    .where('projects.archived_at', 'is', null)
    .orderBy('issues.rank_key')
    .limit(3)
    .execute();
  const tasks = await db
    .selectFrom('tasks')
    .innerJoin('projects', 'projects.id', 'tasks.project_id')
    .select(['tasks.id', 'tasks.project_id'])
    .where('tasks.open', '=', 1)
    .where('projects.archived_at', 'is', null)
    .orderBy('tasks.due_key')
    .limit(2)
    .execute();
  const steps: [minutesAgo: number, by: string, Step | undefined][] = [
    [
      320,
      'Project office',
      comment('risk', risks[0], 'Discussed in the weekly review: the response plan stays.'),
    ],
    [260, 'Operations', start(issues[0])],
    [255, 'Operations', comment('issue', issues[0], 'Two people from operations join from tomorrow.')],
    [140, 'Project office', finish(tasks[0])],
    [95, 'Procurement', comment('risk', risks[1], 'The supplier has confirmed the new date in writing.')],
    [60, 'Operations', start(issues[1])],
    [25, 'Project office', finish(tasks[1])],
    [5, 'Project office', comment('risk', risks[2], 'Please check the likelihood again before Monday.')],
  ];
  for (const [minutesAgo, name, step] of steps) {
    const time = momentOf(new Date(Date.parse(moment.now) - minutesAgo * 60_000), moment.time_zone);
    if (step) await database.write((db) => step(db, { ...bySystem(time), name }));
  }
}

const comment = (type: 'risk' | 'issue', item: Item | undefined, body: string): Step | undefined =>
  item &&
  (async (db, change) =>
    createComment(db, await lockProject(db, item.project_id), { type, ...item }, { body }, change));

const start = (item: Item | undefined): Step | undefined =>
  item &&
  (async (db, change) =>
    updateItem(
      db,
      issueWrites,
      { current: await getIssue(db, item.project_id, item.id, change), patch: { status: 'in_progress' } },
      change,
    ));

const finish = (item: Item | undefined): Step | undefined =>
  item &&
  (async (db, change) =>
    updateItem(
      db,
      taskWrites,
      { current: await getTask(db, item.project_id, item.id, change), patch: { status: 'done' } },
      change,
    ));
