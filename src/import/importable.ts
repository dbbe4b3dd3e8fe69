import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Static, TObject } from 'typebox';
import type { FieldError, Problem } from '../core/errors.ts';
import { fold } from '../core/text.ts';
import type { List } from '../lists/list.ts';
import type { Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import type { Created } from '../store/writes/create-many.ts';
import type { Words } from './recognize/names.ts';

/** The resources that a field of an imported row can refer to. */
export type ReferenceKind = 'person' | 'group' | 'risk' | 'issue';

/** The project of risks, issues or tasks, with everything by which a file can name it. */
export type ItemProject = { id: string; key: string; name: string; external_id: string | null };

/** A JSON object whose fields are checked by a schema at run time. */
export type Resource = Record<string, unknown>;

/** What a resource declares about its import. This folder reads, matches and writes the rows of all resources. */
export type Importable<
  Current = Resource,
  Input extends TObject = TObject,
  Patch extends TObject = TObject,
> = {
  /** The singular noun for messages. */
  what: 'person' | 'group' | 'project' | 'risk' | 'issue' | 'task';
  input: Input;
  patch: Patch;
  /** The stored resources, to compare rows with. Its schema is the schema of the resource. */
  existing: List;
  /** The fields that identify a resource, the most reliable first: its id. */
  keys: readonly [ImportKey, ...ImportKey[]];
  /** Alternative column names by field, separated by commas, the most usual first. */
  synonyms: Readonly<Record<string, string>>;
  /** Fields that files often split into several columns, and the names of those columns. */
  joined?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** The words of other tools for the values of a field. */
  values?: Readonly<Record<string, Words>>;
  /** Columns whose words mean something else than those of the field, by field: with `Disabled`, yes is inactive. */
  ownWords?: Readonly<Record<string, { columns: string; words: Words }>>;
  /** Columns whose numbers count up in some tools and down in others, by field. Their numbers are no words for a value. */
  unclearNumbers?: Readonly<Record<string, readonly string[]>>;
  /** For a field with fixed values: the text field that gets each cell that is none of the values. */
  freeText?: Readonly<Record<string, string>>;
  /** Reads cells of a field that are no words, such as a percentage; undefined if it cannot. */
  interpret?: Readonly<Record<string, (cell: unknown) => unknown>>;
  /** What else a word in the column of a field says, by field: a rejected issue was not fixed. */
  implied?: Readonly<Record<string, ReadonlyMap<string, Resource>>>;
  /** The status of an item that is archived before it was finished. */
  archivedStatus?(status: unknown): string | undefined;
  /** Fields with the name of a person, which files also write as `Lovelace, Ada`. */
  personNames?: readonly string[];
  /** Fields that the service computes. `differs` explains how the value in a file differs; `rejects`, why it cannot. */
  computed?: {
    fields: readonly string[];
    differs(values: Resource, field: string, text: string): string | undefined;
    rejects?(values: Resource, field: string, text: string): string | undefined;
  };
  /** Adds what a change of status needs but the files of other tools do not contain. */
  complete?(patch: Static<Patch>): Static<Patch>;
  /** Values for what a row is found to be about, if the row does not say them. */
  whenFound?(current: Current): Partial<Static<Patch>>;
  /** The values that rows get which state none, by field: undefined for a row that gets none. The result counts them. */
  assumed?: Readonly<Record<string, (row: Resource) => string | undefined>>;
  /** Values for a new row that the files of other tools do not contain. */
  defaults?(input: Static<Input>): Partial<Static<Input>>;
  /** What is odd about new rows that are created nevertheless. */
  warnings?(db: Transaction<Tables>, rows: readonly Resource[], change: Change): Promise<FieldError[][]>;
  /** Fields from which an import removes nothing: it adds items to a list, and sets another one that has no value. */
  additive?: readonly string[];
  /** The project that all rows belong to. */
  project?: ItemProject;
  /** Set if each row names its project. `createsMissing`: projects that do not exist are created. */
  across?: {
    forProject(project: ItemProject): Importable;
    createsMissing: boolean;
    createProject(db: Transaction<Tables>, text: string, change: Change): Promise<ItemProject | Problem>;
  };
  /** Statuses that no single transition reaches, and the status to go through first. */
  intermediateStatus?: Readonly<Record<string, string>>;
  // Methods, not function properties: a schema has checked the rows before they get here.
  create(
    db: Transaction<Tables>,
    inputs: readonly Static<Input>[],
    change: Change,
    wanted: WantedKeys,
  ): Promise<(Created | Problem)[]>;
  update(db: Transaction<Tables>, current: Current, patch: Static<Patch>, change: Change): Promise<unknown>;
  /** Updates many at once, unless one of the fields in `alone` changes, whose rules concern other resources. */
  updateMany?(
    db: Transaction<Tables>,
    updates: readonly { current: Current; patch: Static<Patch> }[],
    change: Change,
  ): Promise<unknown[]>;
  alone?: readonly string[];
};

/** The keys that new items have in the file. */
export type WantedKeys = {
  keys: readonly (string | undefined)[];
  skipped: SkippedNumbers;
};

/** The numbers that an import has skipped. It gives them to later rows of its file, because nobody ever had them. */
export type SkippedNumbers = {
  has(prefix: string, number: number): boolean;
  /** Records the numbers after `from`, up to `upTo`, and which of them are given. */
  add(prefix: string, from: number, upTo: number, given: Iterable<string>): void;
  /** Returns a function that drops what was added since, when a part of the transaction is rolled back. */
  mark(): () => void;
};

/** Somebody or something that a sync has brought, with the keys by which a row of a file is about it. */
export type Synced = {
  id: string;
  label: string;
  keys: readonly string[];
  /** The resource whose row has it, if it is a part of one. */
  of?: string;
  /** Another source that has it, too. */
  keptBy?: string | null;
};

/** What `mode=sync` removes when it is missing in a file of the source that brought it. */
export type SyncTarget = {
  /** The plural noun for messages. */
  noun: string;
  /** Those whom the source brought and who are still there. */
  list(db: Transaction<Tables>, source: string): Promise<Synced[]>;
  /**
   * The ids that a written row stands for, if they are not known before: the resource itself by default. `isComplete`:
   * it says all of them.
   */
  keysOfWritten?(row: WrittenValues, id: string): { keys: string[]; isComplete: boolean };
  /**
   * Remembers that the source has brought them. Returns those who are back: whom a sync of this source removed, and whom it
   * activates again.
   */
  record(
    db: Transaction<Tables>,
    source: string,
    ids: readonly string[],
    change: Change,
  ): Promise<{ id: string; name: string }[]>;
  /**
   * `handoverTo` is `manager`, or the id of a person or group. Returns another source that has it, so that it stays, or
   * false if it was gone already.
   */
  remove(
    db: Transaction<Tables>,
    source: string,
    leaver: Synced,
    handoverTo: string | undefined,
    change: Change,
  ): Promise<string | boolean>;
};

/** The values of a written row, and the texts in it that match nobody. */
type WrittenValues = {
  values: Resource;
  unknownPeople?: readonly { field: string; user_id?: string }[];
};

/** The keys of resources in a table with the columns `id`, `external_id` and `key`. */
export const keysOf = (table: 'projects' | 'risks' | 'issues' | 'tasks') =>
  (['id', 'external_id', 'key'] as const).map((field) => ({
    field,
    column: sql.ref<string>(`${table}.${field}`),
    ...(field === 'key' && { compared: (key: string) => key.toUpperCase() }),
  })) as [ImportKey, ImportKey, ImportKey];

export type ImportKey = { field: string; column: RawBuilder<string>; compared?(value: string): string };

type Keyed = { identity: Record<string, string>; values: Resource };

/** The text by which a row identifies its resource. */
export function keyValue({ identity, values }: Keyed, { field }: ImportKey): string | undefined {
  const value = identity[field] ?? values[field];
  return typeof value === 'string' ? value : undefined;
}

export const comparedBy = (key: ImportKey, value: string) => key.compared?.(value) ?? value;

/** The unique keys of a row. A row with one of them that comes later in the file is about the same resource. */
export const uniqueKeysOf = (row: Keyed, { keys }: { keys: readonly ImportKey[] }): string[] =>
  keys.flatMap((key) => {
    const value = keyValue(row, key);
    return value === undefined ? [] : [`${key.field} ${comparedBy(key, value)}`];
  });

export const isProject = ({ id, key, name, external_id }: ItemProject, text: string) =>
  [id, key, name, external_id].some((own) => own !== null && fold(own) === fold(text));
