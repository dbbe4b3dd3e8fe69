import type { Insertable, Transaction } from 'kysely';
import { type FieldError, Problem } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { ResourceTable, Tables } from '../tables.ts';
import type { Change } from './change.ts';
import type { Subject } from './events.ts';
import { recordCreated } from './history.ts';
import { findRejections, type Target, type Unique } from './references.ts';
import { insertRows } from './rows.ts';

/** The id of a created resource, and its key or name for people. */
export type Created = { id: string; label: string };

/** How resources of one kind are created. */
type Creation<Input, Table extends ResourceTable> = {
  subject: Subject;
  target: Target & { table: Table };
  /** Validation errors of each input, except duplicates. */
  errors: readonly (readonly FieldError[])[];
  uniques: readonly Unique[];
  /** The key or name of the new resource, whose input is at this position. */
  label(input: Input, position: number): string | Promise<string>;
  row(created: Created, input: Input): Insertable<Tables[Table]>;
};

/** Creates a resource for each valid input. Returns the resource or the Problem for each input, in order. */
export async function createMany<Input extends object, Table extends ResourceTable>(
  db: Transaction<Tables>,
  inputs: readonly Input[],
  { subject, target, errors, uniques, label, row }: Creation<Input, Table>,
  change: Change,
): Promise<(Created | Problem)[]> {
  const ids = inputs.map(() => newId(target.kind));
  const rejections = await findRejections(db, target, ids, inputs, errors, uniques);
  const rows: Insertable<Tables[Table]>[] = [];
  const created: Created[] = [];
  const results: (Created | Problem)[] = [];
  for (const [i, input] of inputs.entries()) {
    const problem = rejections[i];
    if (problem) results.push(problem);
    else {
      const resource = { id: ids[i] ?? '', label: await label(input, i) };
      created.push(resource);
      rows.push(row(resource, input));
      results.push(resource);
    }
  }
  await insertRows(db, target.table, rows);
  await recordCreated(db, subject, created, change);
  return results;
}

/** Returns the only result, or throws it if it is a Problem. */
export function unwrapSingle([result]: readonly (Created | Problem)[]): Created {
  if (!result || result instanceof Problem) throw result;
  return result;
}
