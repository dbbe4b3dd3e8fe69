import type { Transaction } from 'kysely';
import type { TObject } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { type FieldError, joined } from '../../core/errors.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change, Differences } from '../../store/writes/change.ts';
import type { Subject } from '../../store/writes/events.ts';
import { type Reference, referenceErrors } from '../../store/writes/references.ts';
import type { issueResource } from '../issues/schema.ts';
import type { CountDelta } from '../projects/counts.ts';
import type { LockedProject } from '../projects/lock.ts';
import type { riskResource } from '../risks/schema.ts';
import type { taskResource } from '../tasks/schema.ts';
import type { ReadItem } from './read.ts';

export type ItemIdentity = { id: string; project_id: string; key: string };

export type Item = ItemIdentity & {
  title: string;
  description: string | null;
  external_id: string | null;
  assignee_user_id?: string | null;
  version: number;
  updated_at: string;
};

export type Reason = string | null | undefined;

/** How items of one kind are created, updated and deleted, one or many. */
export type ItemWrites<I extends Item, Input, Patch> = {
  /** Returns these writes by the rules in force. Called after the locks are taken, so that the rules cannot change. */
  prepare?(db: Transaction<Tables>): Promise<ItemWrites<I, Input, Patch>>;
  /** The time from which these rules are in force: nothing is written with an earlier one, even if a clock is behind. */
  since?: string;
  target: typeof riskResource | typeof issueResource | typeof taskResource;
  subject: Subject;
  schema: TObject;
  get: ReadItem<I>;
  /** The row of a new item. */
  row(identity: ItemIdentity, input: Input, moment: Moment): object;
  /** Completes values with what is stored. Returns the errors of each. */
  resolve?<Values extends object>(
    db: Transaction<Tables>,
    values: readonly Values[],
  ): Promise<{ values: Values[]; errors: FieldError[][] }>;
  /** Validates a new item, or the new state of an item, except its references. */
  itemErrors(item: I | Input, moment: Moment): FieldError[];
  /** Validates what only a new item must fulfill. */
  inputErrors?(input: Input): FieldError[];
  /** Returns the state after a patch, with its errors. Throws if the current state does not allow the patch. */
  next(
    current: I,
    patch: Patch,
    reason: Reason,
    change: Change,
    project: LockedProject,
  ): { next: I; errors?: FieldError[] };
  /** Runs before the rows change. */
  archive?(db: Transaction<Tables>, ids: readonly string[], now: string): Promise<void>;
  /** Columns that are not fields of a patch but depend on them. */
  derivedColumns?(current: I, next: I): object;
  /** Changes of fields that follow from others. They are in the event, not in the history. */
  derivedDifferences?(current: I, next: I): Differences;
  delta(item: I): CountDelta;
  /** What may refer to the item, so that it cannot be deleted. */
  referrers?(id: string): Reference[];
};

/** The writes by the rules in force. */
export const prepared = async <I extends Item, Input, Patch>(
  db: Transaction<Tables>,
  writes: ItemWrites<I, Input, Patch>,
): Promise<ItemWrites<I, Input, Patch>> => (await writes.prepare?.(db)) ?? writes;

/** Validates new items, or the new states of items, of one project. */
export async function validateItems<I extends Item, Input extends object, Patch>(
  db: Transaction<Tables>,
  { target, itemErrors }: ItemWrites<I, Input, Patch>,
  project_id: string,
  items: readonly (I | Input)[],
  moment: Moment,
): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, items, target.references, project_id);
  return joined(
    errors,
    items.map((item) => itemErrors(item, moment)),
  );
}
