import type { Insertable, Transaction } from 'kysely';
import { type FieldError, Problem } from '../../core/errors.ts';
import { type IdKind, newId } from '../../core/ids.ts';
import type { Tables } from '../tables.ts';
import type { Change } from './change.ts';
import { recordCreated } from './history.ts';
import { findRejections, type Target, type Unique } from './references.ts';
import { insertRows } from './rows.ts';

/** What has been made, and what people know it by. */
export type Created = { id: string; label: string };

/** How things of a kind are made, many at a time. */
type Making<Input, Table extends Target['table']> = {
  kind: IdKind;
  target: Target & { table: Table };
  /** What is wrong with each of the inputs, beside values that others have. */
  errors: readonly (readonly FieldError[])[];
  uniques: readonly Unique[];
  /** What people will know it by; `place` counts those that are made, from 0. */
  label(input: Input, place: number): string | Promise<string>;
  row(made: Created, input: Input): Insertable<Tables[Table]>;
};

/** Makes those that can be made, in the order of the inputs, and says why the others cannot. */
export async function createMany<Input extends object, Table extends Target['table']>(
  db: Transaction<Tables>,
  inputs: readonly Input[],
  { kind, target, errors, uniques, label, row }: Making<Input, Table>,
  change: Change,
): Promise<(Created | Problem)[]> {
  const ids = inputs.map(() => newId(kind));
  const refused = await findRejections(db, target, ids, inputs, errors, uniques);
  const rows: Insertable<Tables[Table]>[] = [];
  const made: Created[] = [];
  const outcome: (Created | Problem)[] = [];
  for (const [i, input] of inputs.entries()) {
    const problem = refused[i];
    if (problem) outcome.push(problem);
    else {
      const one = { id: ids[i] ?? '', label: await label(input, made.length) };
      made.push(one);
      rows.push(row(one, input));
      outcome.push(one);
    }
  }
  await insertRows(db, target.table, rows);
  await recordCreated(db, made, change);
  return outcome;
}

/** Of one thing it is thrown why it could not be made. */
export function unwrapSingle([made]: readonly (Created | Problem)[]): Created {
  if (!made || made instanceof Problem) throw made;
  return made;
}
