import type { RawBuilder, Transaction } from 'kysely';
import type { Static, TObject } from 'typebox';
import type { Problem } from '../core/errors.ts';
import type { Tables } from '../database/tables.ts';
import type { Change } from '../database/writes/change.ts';
import type { Created } from '../database/writes/create-many.ts';
import type { List } from '../lists/list.ts';

/** The resources that a field of an imported row can refer to. */
export type ReferenceKind = 'person' | 'group' | 'risk' | 'issue';

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
  /** Alternative column names by field. */
  synonyms: Readonly<Record<string, readonly string[]>>;
  /** Fields that files often split into several columns, and the names of those columns. */
  joined?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** List fields to which an import adds items and from which it removes none. */
  additive?: readonly string[];
  /** The project that all rows belong to. */
  project?: { id: string; key: string };
  /** Statuses that no single transition reaches, and the status to go through first. */
  intermediateStatus?: Readonly<Record<string, string>>;
  // Methods, not function properties: a schema has checked the rows before they get here.
  create(
    db: Transaction<Tables>,
    inputs: readonly Static<Input>[],
    change: Change,
  ): Promise<(Created | Problem)[]>;
  update(db: Transaction<Tables>, current: Current, patch: Static<Patch>, change: Change): Promise<unknown>;
};

export type ImportKey = { field: string; column: RawBuilder<string>; compared?(value: string): string };
