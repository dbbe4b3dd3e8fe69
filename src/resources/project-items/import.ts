import type { Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { invalidBody, Problem } from '../../core/errors.ts';
import { checkOf } from '../../http/request/validation.ts';
import {
  type Importable,
  type ItemProject,
  keysOf,
  type Resource,
  type WantedKeys,
} from '../../import/importable.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { assigneeErrors } from '../personnel/queries.ts';
import { createProjects, getProject } from '../projects/queries.ts';
import { ProjectInput } from '../projects/schema.ts';
import { createItems } from './create.ts';
import { updateItem, updateItems } from './update.ts';
import type { Item, ItemWrites } from './writes.ts';

/** Statuses of items that nobody works on any more. */
const finished = ['resolved', 'closed', 'done', 'cancelled'];

/** What the imports of risks, issues and tasks into a project have in common. */
export const importOf = <I extends Item, Input extends object, Patch extends object>(
  writes: ItemWrites<I, Input, Patch>,
  project: ItemProject,
  { today }: Moment,
) => ({
  what: writes.target.kind,
  keys: keysOf(writes.target.table),
  project,
  // A tree of Azure DevOps has a column for the titles of each level.
  joined: { title: Array.from({ length: 10 }, (_, i) => [`title ${i + 1}`]) },
  // Logs with due dates in the past often have no column for when an item was raised.
  defaults: ({ raised_on, due_on }: Input & { raised_on?: string; due_on?: string | null }) =>
    ('raised_on' in writes.schema.properties && !raised_on && due_on && due_on < today
      ? { raised_on: due_on }
      : {}) as Partial<Input>,
  archivedStatus: (status: unknown) =>
    finished.includes(String(status)) ? undefined : writes.target.kind === 'task' ? 'cancelled' : 'closed',
  // The logs of other tools name people who have left.
  warnings: async (db: Transaction<Tables>, rows: readonly Resource[], change: Change) => {
    const items = rows.map(({ status, assignee_user_id }) =>
      finished.includes(String(status)) ? {} : ({ assignee_user_id } as { assignee_user_id?: string }),
    );
    const errors = await assigneeErrors(db, items, change);
    return errors.map((ofRow) =>
      ofRow.map((error) => ({ ...error, detail: `${error.detail} The row was imported as it is.` })),
    );
  },
  create: (db: Transaction<Tables>, inputs: readonly Input[], change: Change, wanted: WantedKeys) =>
    createItems(db, writes, project.id, inputs, change, wanted),
  update: (db: Transaction<Tables>, current: I, patch: Patch, change: Change) =>
    updateItem(db, writes, { current, patch }, change),
  updateMany: (db: Transaction<Tables>, updates: readonly { current: I; patch: Patch }[], change: Change) =>
    updateItems(db, writes, updates, change),
  alone: ['external_id'],
});

export type ItemImport = (project: ItemProject, moment: Moment) => Importable;

/** The import of risks, issues or tasks into the projects that their rows name. */
export function importAcrossProjects(
  itemImport: ItemImport,
  moment: Moment,
  createsMissing: boolean,
): Importable {
  const { project: _, ...importable } = itemImport({ id: '', key: '', name: '', external_id: null }, moment);
  const forProject = (project: ItemProject) => itemImport(project, moment);
  return { ...importable, across: { forProject, createsMissing, createProject } };
}

/** Compiled when it is first needed. */
let projectErrors: ReturnType<typeof checkOf> | undefined;

/** A text that can be a key, such as `APOLLO`, is the key and the name. */
async function createProject(
  db: Transaction<Tables>,
  text: string,
  change: Change,
): Promise<ItemProject | Problem> {
  const key = /^[A-Z][A-Z0-9]{1,9}$/.test(text) ? { key: text } : {};
  const input = { name: text, ...key };
  projectErrors ??= checkOf(ProjectInput);
  const errors = projectErrors(input);
  if (errors.length > 0) return invalidBody(errors);
  const [created] = await createProjects(db, [input], change);
  if (!created) throw new Error('No project was created.');
  return created instanceof Problem ? created : getProject(db, created.id, change);
}
