import type { Insertable, Transaction } from 'kysely';
import { refusals, type Target, type Unique } from '../database/references.ts';
import type { Tables } from '../database/tables.ts';
import { insertRows } from '../database/update.ts';
import { type Fault, Problem } from '../errors.ts';
import { type IdKind, newId } from '../ids.ts';
import type { Change } from './change.ts';
import { rememberCreated } from './queries.ts';

/** What has been made, and what people know it by. */
export type Made = { id: string; label: string };

/** How things of a kind are made, many at a time. */
type Making<Input, Table extends Target['table']> = {
  kind: IdKind;
  target: Target & { table: Table };
  /** What is wrong with each of the inputs, beside values that others have. */
  faults: readonly (readonly Fault[])[];
  uniques: readonly Unique[];
  /** What people will know it by; `place` counts those that are made, from 0. */
  label(input: Input, place: number): string | Promise<string>;
  row(made: Made, input: Input): Insertable<Tables[Table]>;
};

/** Makes those that can be made, in the order of the inputs, and says why the others cannot. */
export async function makeAll<Input extends object, Table extends Target['table']>(
  db: Transaction<Tables>,
  inputs: readonly Input[],
  { kind, target, faults, uniques, label, row }: Making<Input, Table>,
  change: Change,
): Promise<(Made | Problem)[]> {
  const ids = inputs.map(() => newId(kind));
  const refused = await refusals(db, target, ids, inputs, faults, uniques);
  const rows: Insertable<Tables[Table]>[] = [];
  const made: Made[] = [];
  const outcome: (Made | Problem)[] = [];
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
  await rememberCreated(db, made, change);
  return outcome;
}

/** Of one thing it is thrown why it could not be made. */
export function onlyOne([made]: readonly (Made | Problem)[]): Made {
  if (!made || made instanceof Problem) throw made;
  return made;
}
