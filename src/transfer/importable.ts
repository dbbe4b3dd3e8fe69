import type { RawBuilder, Transaction } from 'kysely';
import type { TObject } from 'typebox';
import type { Problem } from '../core/errors.ts';
import type { Tables } from '../database/tables.ts';
import type { Change } from '../database/writes/change.ts';
import type { Created } from '../database/writes/create-many.ts';
import type { List } from '../lists/list.ts';

/** What a noun says of its import; how rows are read, matched, written and answered is said once, in this folder. */
export type Importable = {
  /** One of them, in a sentence. */
  what: 'person' | 'group' | 'project' | 'risk' | 'issue' | 'task';
  input: TObject;
  patch: TObject;
  /** Those that are there, as rows are compared with them. Its schema is that of the resource. */
  existing: List;
  /** What a row is known by, the surest first: its id. */
  keys: readonly [ImportKey, ...ImportKey[]];
  /** What else people call the fields. */
  synonyms: Readonly<Record<string, readonly string[]>>;
  /** Fields that tables often have in parts, and what people call the parts. */
  joined?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Lists to which an import only adds. */
  additive?: readonly string[];
  /** The project that all rows belong to. */
  project?: { id: string; key: string };
  /** States that cannot be reached in one move, and what comes before them. */
  intermediateStatus?: Readonly<Record<string, string>>;
  create(db: Transaction<Tables>, inputs: readonly never[], change: Change): Promise<(Created | Problem)[]>;
  update(db: Transaction<Tables>, current: never, patch: never, change: Change): Promise<unknown>;
};

export type ImportKey = { field: string; column: RawBuilder<string>; compared?(value: string): string };
