import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Importable } from '../../transfer/importable.ts';
import { createTasks, taskList, updateTask } from './queries.ts';
import { type Task, TaskInput, TaskPatch } from './schema.ts';

export const taskImport = (
  project: { id: string; key: string },
  moment: Moment,
): Importable<Task, typeof TaskInput, typeof TaskPatch> => ({
  what: 'task',
  input: TaskInput,
  patch: TaskPatch,
  existing: taskList({ project: [project.id], status: ['all'] }, moment),
  keys: [
    { field: 'id', column: sql.ref('tasks.id') },
    { field: 'external_id', column: sql.ref('tasks.external_id') },
    { field: 'key', column: sql.ref('tasks.key') },
  ],
  project,
  synonyms: {
    title: ['task', 'task title', 'name', 'task name', 'summary', 'action'],
    description: ['details', 'notes'],
    kind: ['type', 'task type'],
    status: ['state', 'task status'],
    assignee_name: ['assigned to', 'assigned', 'owner', 'responsible', 'who'],
    start_on: ['start', 'start date', 'begins'],
    due_on: ['due', 'due date', 'end date', 'target date', 'deadline', 'finish'],
    risk_id: ['risk key'],
    issue_id: ['issue key'],
    external_id: ['task id', 'reference', 'ref', 'number', 'no', 'ticket'],
  },
  create: (db, inputs, change) => createTasks(db, project.id, inputs, change),
  update: updateTask,
});
