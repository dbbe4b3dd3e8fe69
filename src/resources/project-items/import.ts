import type { Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { invalidBody, Problem } from '../../core/errors.ts';
import { checkOf } from '../../http/request/validation.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { createProjects, getProject } from '../projects/queries.ts';
import { ProjectInput } from '../projects/schema.ts';

export type ItemImport = (project: ItemProject, moment: Moment) => Importable;

/** The import of risks, issues or tasks into the projects that their rows name. */
export function importAcrossProjects(
  itemImport: ItemImport,
  moment: Moment,
  createsProjects: boolean,
): Importable {
  const { project: _, ...importable } = itemImport({ id: '', key: '', name: '', external_id: null }, moment);
  const forProject = (project: ItemProject) => itemImport(project, moment);
  return { ...importable, across: { forProject, ...(createsProjects && { createProject }) } };
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
