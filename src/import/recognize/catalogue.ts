import type { TObject } from 'typebox';
import { idPattern } from '../../core/ids.ts';
import type { Property } from '../../formats/cells.ts';
import type { Importable, ReferenceKind } from '../importable.ts';
import { wordsOfAll } from '../languages/all.ts';
import { normalizeName } from './names.ts';

/** What the cells of a column hold. */
export type Column =
  | { is: 'field'; field: string; property: Property; read?(cell: unknown): unknown }
  | { is: 'reference'; field: string; kind: ReferenceKind; isList: boolean; read?(cell: unknown): unknown }
  /** A name that can stand beside or instead of the fields with the id. */
  | {
      is: 'name';
      field: string;
      targets: readonly { field: string; kind: ReferenceKind }[];
      read?(cell: unknown): unknown;
    }
  /** One of several columns that are joined into a field, such as first and last name. */
  | { is: 'part'; field: string; position: number }
  | { is: 'attribute'; field: string; name: string }
  /** Identifies a row, but cannot be written. */
  | { is: 'identity'; field: string }
  | { is: 'project'; field: string; read?(cell: unknown): unknown }
  /** A text whose first line is also the title, in a file without titles. */
  | { is: 'heading'; field: 'title'; rest: 'description' }
  /** Whether nobody works on an item any more, whatever its status is. */
  | {
      is: 'archived';
      field: 'status';
      /** What yes says: that the item is archived, or that it is not. */
      says: 'archived' | 'current';
      read?(cell: unknown): unknown;
    }
  /** A value that the service computes, to compare with. */
  | { is: 'computed'; field: string }
  | { is: 'ignored'; field: '' };

export const ignored: Column = { is: 'ignored', field: '' };

/** The field of a column, as clients see it. */
export const targetOf = (column: Column) =>
  column.is === 'attribute' ? `attributes.${column.name}` : column.field;

const kinds: readonly ReferenceKind[] = ['person', 'group', 'risk', 'issue'];

type FieldSchema = Property & { pattern?: string; items?: { pattern?: string } };

/** A column and how good its name is: the lower, the better. A field's own name is 0. */
export type Known = { column: Column; rank: number };

/** The columns that are recognized for a resource, by normalized name. */
export function knownColumns(importable: Importable): Map<string, Known> {
  const { input, patch, existing, keys, synonyms, ownWords = {}, joined = {}, computed } = importable;
  const writable = { ...input.properties, ...patch.properties } as Record<string, FieldSchema>;
  const known = new Map<string, Known>();
  const add = (name: string, column: Column | undefined, rank = 0) => {
    if (column && !known.has(normalizeName(name))) known.set(normalizeName(name), { column, rank });
  };
  const columns = new Map(
    Object.entries(writable).map(([field, property]) => [field, columnOf(field, property)]),
  );
  for (const [field, column] of columns) add(field, column);
  for (const field of Object.keys(existing.schema.properties)) {
    if (keys.some((key) => key.field === field)) add(field, { is: 'identity', field });
    else if (/^project_(id|key)$/.test(field)) add(field, { is: 'project', field });
    else if (computed?.fields.includes(field)) add(field, { is: 'computed', field });
    else if (nameColumn(field, columns)) add(field, nameColumn(field, columns));
    else if (field !== 'project_name') add(field, ignored);
  }
  // The console adds this column to the rows that failed.
  add('import errors', ignored);
  if ('project_id' in existing.schema.properties)
    for (const name of wordsOfAll(({ projectColumns }) => projectColumns))
      add(name, { is: 'project', field: 'project' }, 1);
  for (const field of Object.keys(writable).filter((field) => /_id$/.test(field))) {
    const base = field.replace(/(_user|_group)?_id$/, '');
    add(base, known.get(normalizeName(`${base}_name`))?.column ?? columns.get(field), 1);
  }
  for (const [field, names] of Object.entries(synonyms)) {
    const column = columns.get(field) ?? known.get(normalizeName(field))?.column;
    for (const [i, name] of names.split(',').entries()) add(name, column, 1 + i / 1000);
  }
  for (const [field, { columns: names }] of Object.entries(ownWords))
    for (const name of names.split(',')) add(name, columns.get(field), 2);
  for (const [field, parts] of Object.entries(joined)) {
    for (const [position, names] of parts.entries())
      for (const name of names) add(name, { is: 'part', field, position }, 1);
  }
  return known;
}

/** The kind of resource that a field refers to, if it is a reference. */
export function kindNamed({ items, pattern }: FieldSchema): ReferenceKind | undefined {
  return kinds.find((kind) => (items?.pattern ?? pattern) === idPattern(kind));
}

export function columnOf(field: string, property: FieldSchema): Column {
  const kind = kindNamed(property);
  return kind
    ? { is: 'reference', field, kind, isList: property.items !== undefined }
    : { is: 'field', field, property };
}

/** `owner_name` is the name for `owner_user_id` or `owner_group_id`. */
function nameColumn(field: string, columns: Map<string, Column>): Column | undefined {
  const base = /^(.+)_name$/.exec(field)?.[1];
  const targets = [...columns.values()].filter(
    (column) => column.is === 'reference' && [`${base}_user_id`, `${base}_group_id`].includes(column.field),
  ) as { field: string; kind: ReferenceKind }[];
  return targets.length === 0 ? undefined : { is: 'name', field, targets };
}

/** `attributes.badge` is the attribute `badge`. */
export function attributeColumn({ patch }: { patch: TObject }, text: string): Column | undefined {
  const [, name] = /^attributes\.(.+)$/.exec(text.trim()) ?? [];
  return name !== undefined && 'attributes' in patch.properties
    ? { is: 'attribute', field: 'attributes', name: name.trim() }
    : undefined;
}
