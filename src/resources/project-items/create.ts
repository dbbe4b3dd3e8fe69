import type { Insertable, Transaction } from 'kysely';
import type { FieldError, Problem } from '../../core/errors.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { type Created, createMany } from '../../store/writes/create-many.ts';
import type { Subject } from '../../store/writes/events.ts';
import { inProject, type Target } from '../../store/writes/references.ts';
import { addCreatedCounts, type CountDelta } from '../projects/counts.ts';
import { assertNotArchived, lockProject } from '../projects/lock.ts';

type ItemIdentity = { id: string; project_id: string; key: string };

/**
 * Creates risks, issues or tasks in a project; returns a problem for each invalid input. Each item gets the next key of
 * its kind, such as `APOLLO-R7`. A number is never reused, even after the item is deleted.
 */
export async function createItems<Input extends object, Table extends 'risks' | 'issues' | 'tasks'>(
  db: Transaction<Tables>,
  projectRef: string,
  inputs: readonly Input[],
  {
    target,
    ...item
  }: {
    subject: Subject;
    target: Target & { table: Table };
    errors(project_id: string): Promise<FieldError[][]>;
    row(identity: ItemIdentity, input: Input): Insertable<Tables[Table]>;
    delta(input: Input): CountDelta;
  },
  change: Change,
): Promise<(Created | Problem)[]> {
  const project = await lockProject(db, projectRef);
  assertNotArchived(project);
  const { id: project_id, key } = project;
  const counter = `${target.table}_created` as const;
  const deltas: CountDelta[] = [];
  const options = {
    subject: item.subject,
    target: inProject(target, project_id),
    errors: await item.errors(project_id),
    uniques: [{ field: 'external_id' }],
    label: (_: Input, index: number) =>
      `${key}-${target.kind[0]?.toUpperCase()}${project[counter] + index + 1}`,
    row: ({ id, label }: Created, input: Input) => {
      deltas.push(item.delta(input));
      return item.row({ id, project_id, key: label }, input);
    },
  };
  const created = await createMany(db, inputs, options, change);
  await addCreatedCounts(db, project_id, counter, deltas);
  return created;
}
