import type { Transaction } from 'kysely';
import { joined, type Problem } from '../../core/errors.ts';
import type { WantedKeys } from '../../import/importable.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { type Created, createMany, unwrapSingle } from '../../store/writes/create-many.ts';
import { setEventData } from '../../store/writes/events.ts';
import { laterThan } from '../../store/writes/rows.ts';
import { assigneeErrors } from '../personnel/queries.ts';
import { type CountDelta, updateCounts } from '../projects/counts.ts';
import { archivedProblem, lockProject } from '../projects/lock.ts';
import { createKeys } from './keys.ts';
import { type Item, type ItemWrites, prepared, validateItems } from './writes.ts';

/** Creates one item, or throws its problem. */
export async function createItem<I extends Item, Input extends object, Patch>(
  db: Transaction<Tables>,
  writes: ItemWrites<I, Input, Patch>,
  project: string,
  input: Input,
  change: Change,
): Promise<I> {
  const { id } = unwrapSingle(await createItems(db, writes, project, [input], change));
  return setEventData(db, id, await writes.get(db, project, id, change));
}

/**
 * Creates risks, issues or tasks in a project; returns a problem for each invalid input. Each item gets the next key of
 * its kind, such as `APOLLO-R7`, or the one that it has in an imported file. A number is never reused, even after the item is
 * deleted.
 */
export async function createItems<I extends Item, Input extends object, Patch>(
  db: Transaction<Tables>,
  kind: ItemWrites<I, Input, Patch>,
  projectRef: string,
  requested: readonly Input[],
  requestedChange: Change,
  wanted?: WantedKeys,
): Promise<(Created | Problem)[]> {
  const project = await lockProject(db, projectRef);
  const rejected = archivedProblem(project);
  if (rejected) return requested.map(() => rejected);
  const writes = await prepared(db, kind);
  const change = laterThan(requestedChange, { updated_at: writes.since ?? '' });
  const { target, subject, inputErrors = () => [] } = writes;
  const { id: project_id, key } = project;
  const resolved = await writes.resolve?.(db, requested);
  const inputs = resolved?.values ?? requested;
  const counter = `${target.table}_created` as const;
  const prefix = `${key}-${target.kind[0]?.toUpperCase()}`;
  const last = project[counter];
  const keys = await createKeys(db, { table: target.table, project_id, prefix, last }, wanted);
  const deltas: { after: CountDelta }[] = [];
  const errors = joined(
    joined(await validateItems(db, writes, project_id, inputs, change), inputs.map(inputErrors)),
    // Imports accept people who have left, with a warning.
    joined(wanted ? inputs.map(() => []) : await assigneeErrors(db, inputs, change), resolved?.errors ?? []),
  );
  const options = {
    subject,
    target: { ...target, project_id },
    errors,
    uniques: [{ field: 'external_id' }],
    label: (_: Input, position: number) => keys.next(position),
    row: ({ id, label }: Created, input: Input) => {
      const item = writes.row({ id, project_id, key: label }, input, change);
      deltas.push({ after: writes.delta(item as I) });
      return item as never;
    },
  };
  const created = await createMany(db, inputs, options, change);
  await updateCounts(db, project_id, deltas, { [counter]: keys.end() - last });
  return created;
}
