import type { GeneratedAlways } from 'kysely';
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { IdKind } from '../core/ids.ts';

/** A table, from which the types of its rows, restores, `muster check` and the limits of keys to projects are derived. */
export type Table = {
  /** The columns that the service writes. Lists, objects and values of any type are stored as JSON text. */
  columns: TProperties;
  /** The columns that the database computes from others. */
  generated?: TProperties;
  /** The columns that refer to a row, and its table. */
  references?: Readonly<Record<string, string>>;
  /** The rows that a key sees which is limited to projects. */
  visible: Visibility;
  /** Set if the rows are in no backup, so that a restore ends what they stand for. */
  isTemporary?: true;
};

type Visibility =
  | 'all'
  | 'none'
  /** Rows of its projects, which this column names. */
  | { project: string }
  /** Rows that are themselves limited to some of its projects, which this column lists. */
  | { projects: string }
  /** Rows that follow from other tables: see `store/project-scope.ts`. */
  | 'derived';

/** A resource of the API: the one place that lists what other parts of the service need to know of it. */
export type Descriptor = Table & {
  /** The singular noun. */
  kind: IdKind;
  table: string;
  id: 'id' | 'user_id' | 'name';
  /** The column by which messages name a row. */
  label?: 'name' | 'key';
  /** The heading in the API reference, and its text. */
  tag: readonly [name: string, description: string];
  /** Left out if changes write no events. */
  events?: {
    /** The scope that a key needs to read them. */
    scope: string;
    /** Every type of event and when it is written. */
    types: Readonly<Record<string, string>>;
    /** The schema of `data`. */
    data: TSchema;
    /** The page of the console that shows the resource, by its id or by its key. Left out if it has none. */
    page?: readonly [path: string, by: 'subject_id' | 'subject_key'];
    /** The specific types of changed fields, in the order of preference; undefined for any other change. */
    actions?(differences: Readonly<Record<string, Difference | undefined>>): (string | undefined)[];
  };
};

type Difference = { from: unknown; to: unknown };

/** Keeps the names in a descriptor as types. */
export const describeResource = <const D extends Descriptor>(descriptor: D): D => descriptor;

/** The fields of a resource without those that are computed or joined, and columns that only the database uses. */
export function columnsOf<P extends TProperties, Computed extends keyof P, C extends TProperties>(
  { properties }: { properties: P },
  computed: readonly Computed[],
  others: C,
) {
  const stored = Object.entries(properties).filter(([name]) => !computed.includes(name as Computed));
  return { ...Object.fromEntries(stored), ...others } as Omit<P, Computed | keyof C> & C;
}

/** The type of a table's rows. */
export type RowOf<T extends Pick<Table, 'columns' | 'generated'>> = {
  [Column in keyof T['columns']]: Stored<Static<T['columns'][Column]>>;
} & {
  [Column in keyof T['generated']]: T['generated'][Column] extends TSchema
    ? GeneratedAlways<Static<T['generated'][Column]>>
    : never;
};

type Stored<Value> = unknown extends Value
  ? string
  : Value extends string | number | boolean | null
    ? Value
    : string;

/** The result of `fold`, in columns named `…_folded`. */
export const Folded = Type.String();
/** A text by which rows are sorted, in columns named `…_key`. */
export const SortKey = Type.String();
/** 0 or 1. */
export const Flag = Type.Integer({ minimum: 0, maximum: 1 });
/** Needs 64 bits; all other integers have 32. */
export const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The new status if it has a type of its own, or `reopened` if the status was one of an inactive item. */
export function statusAction(
  status: Difference | undefined,
  own: readonly string[],
  inactive: readonly string[],
): string | undefined {
  if (!status) return undefined;
  if (own.includes(String(status.to))) return String(status.to);
  return inactive.includes(String(status.from)) ? 'reopened' : undefined;
}
