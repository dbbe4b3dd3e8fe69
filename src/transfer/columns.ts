import type { TObject } from 'typebox';
import { type FieldError, Problem } from '../core/errors.ts';
import { idPattern } from '../core/ids.ts';
import { fold, joinWords, nearest, shortened } from '../core/text.ts';
import { cellReader, type Property } from '../formats/cells.ts';
import type { Importable, ReferenceKind } from './importable.ts';

/** What the cells of a column hold. */
export type Column =
  | { is: 'field'; field: string; read(cell: unknown): unknown }
  | { is: 'reference'; field: string; kind: ReferenceKind; isList: boolean }
  /** A name that can stand beside or instead of the fields with the id. */
  | { is: 'name'; field: string; targets: readonly { field: string; kind: ReferenceKind }[] }
  /** One of several columns that are joined into a field, such as first and last name. */
  | { is: 'part'; field: string; position: number }
  | { is: 'attribute'; field: string; name: string }
  /** Identifies a row, but cannot be written. */
  | { is: 'identity'; field: string }
  | { is: 'project'; field: string }
  | { is: 'ignored'; field: '' };

export type Columns = {
  /** The columns that `find` has recognized, by name. */
  recognized: ReadonlyMap<string, Column>;
  /** The column with this name; undefined if it is unknown. */
  find(name: string): Column | undefined;
  /** The name of the column that holds this field. */
  columnFor(field: string): string | undefined;
  /** An error message for an unknown column. The first of several also lists the known columns. */
  explainUnknown(name: string, isFirst: boolean): string;
};

/** Recognizes the columns of a file by their names, or by the `map` parameter. */
export function columnsOf(importable: Importable, map: ReadonlyMap<string, string>): Columns {
  const known = knownColumns(importable);
  const fields = [...new Set([...known.values()].map(({ field }) => field))].filter((field) => field !== '');
  const mapped = new Map(
    [...map].map(([name, field]) => {
      const column =
        field === '' ? ignored : (attributeColumn(importable, field) ?? known.get(normalizeName(field)));
      if (!column) throw unknownField(name, field, fields);
      return [name, column] as const;
    }),
  );
  const recognized = new Map<string, Column>();
  const columnsByField = new Map<string, string>();
  const hasAttributes = 'attributes' in importable.patch.properties;
  const allColumns = `Known columns are ${joinWords(fields)}. `;
  const suggestions = new Map<string, string | undefined>();
  /** A file can have millions of unknown names, so only the first thousand get a suggestion. */
  const suggestField = (name: string) => {
    if (!suggestions.has(name) && suggestions.size < maxSuggestions)
      suggestions.set(name, known.get(nearest(normalizeName(name), [...known.keys()]) ?? '')?.field);
    return suggestions.get(name);
  };
  return {
    recognized,
    find(name) {
      const column =
        recognized.get(name) ??
        mapped.get(normalizeColumnName(name)) ??
        attributeColumn(importable, name) ??
        known.get(normalizeName(name));
      if (column && !recognized.has(name)) {
        recognized.set(name, column);
        if (!columnsByField.has(column.field)) columnsByField.set(column.field, name);
      }
      return column;
    },
    columnFor: (field) => (field === '' ? undefined : columnsByField.get(field)),
    explainUnknown(name, isFirst) {
      const shown = shortened(name);
      const field = suggestField(shown);
      return (
        `Unknown column “${shown}”. ${field ? `Did you mean \`${field}\`? ` : ''}` +
        `${isFirst ? allColumns : ''}Use \`map\` to assign it to a field, ` +
        `${hasAttributes ? `store it as an attribute (\`${shown}=attributes.${shown}\`), ` : ''}` +
        `or ignore it (\`${shown}=\`).`
      );
    },
  };
}

const maxSuggestions = 1000;

/** A column name as it appears in `map`, where a list loses the blanks around its commas. */
export const normalizeColumnName = (name: string) =>
  name
    .split(',')
    .map((part) => part.trim())
    .join(',');

/** The columns of a table. Rejects a table with an unknown, repeated or missing column. */
export function tableColumns(
  names: readonly string[],
  columns: Columns,
  importable: Importable,
  mode: string,
) {
  const found = names.map((name) => (name === '' ? ignored : columns.find(name)));
  const rejected = (errors: FieldError[]) => {
    const targets = names.map((name, i) => [shortened(name), found[i] ? targetOf(found[i]) : null]);
    return invalidColumns(errors, Object.fromEntries(targets.slice(0, maxNamedColumns)));
  };
  if (found.every((column) => column === undefined || column.is === 'ignored')) {
    throw rejected([
      {
        code: 'no_header',
        detail:
          `The first line must name the columns, such as ${joinWords(Object.keys(importable.input.properties).slice(0, 3))}. ` +
          `It contains ${joinWords(names.slice(0, 5).map((name) => `“${shortened(name)}”`))}.`,
      },
    ]);
  }
  const errors: FieldError[] = names
    .filter((_, i) => found[i] === undefined)
    .slice(0, maxNamedColumns)
    .map((name, i) => ({
      column: shortened(name),
      code: 'unknown_column',
      detail: columns.explainUnknown(name, i === 0),
    }));
  const firsts = new Map<string, string>();
  for (const [i, column] of found.entries()) {
    if (!column || column.is === 'ignored') continue;
    const name = shortened(names[i] ?? '');
    const target = `${column.is} ${targetOf(column)} ${column.is === 'part' ? column.position : ''}`;
    const first = firsts.get(target);
    if (first === undefined) firsts.set(target, name);
    else if (errors.length < maxNamedColumns) {
      const detail = `“${first}” and “${name}” both map to \`${targetOf(column)}\`. Ignore one of them with \`map\`.`;
      errors.push({ column: name, code: 'repeated_column', detail });
    }
  }
  const required = mode === 'create' ? ((importable.input.required as string[] | undefined) ?? []) : [];
  for (const field of required.filter((field) => !found.some((column) => column?.field === field))) {
    const detail = `No column maps to the required field \`${field}\`. Add the column, or assign one with \`map\`.`;
    errors.push({ code: 'missing_column', detail });
  }
  if (errors.length > 0) throw rejected(errors);
  return found.map((column) => column ?? ignored);
}

/** 422 for a file with invalid columns. Includes the field of each column, so that the sender can correct `map`. */
const invalidColumns = (errors: FieldError[], columns: Record<string, string | null>) =>
  new Problem('invalid_body', sentencesOf(errors), { errors, extra: { columns } });

/** The number of columns an error names, and the number of errors its detail repeats. */
const maxNamedColumns = 100;
const maxSentences = 5;

const sentencesOf = (errors: FieldError[]) =>
  errors
    .slice(0, maxSentences)
    .map(({ detail }) => detail)
    .concat(errors.length > maxSentences ? ['See `errors` for the rest.'] : [])
    .join(' ');

/** The field of a column, as clients see it. */
export const targetOf = (column: Column) =>
  column.is === 'attribute' ? `attributes.${column.name}` : column.field;

const ignored: Column = { is: 'ignored', field: '' };

/** Names are compared without case, spaces and punctuation: `E-mail` is `email`. */
const normalizeName = (name: string) => fold(name).replace(/[^\p{L}\p{N}]+/gu, '');

const kinds: readonly ReferenceKind[] = ['person', 'group', 'risk', 'issue'];

type FieldSchema = Property & { pattern?: string; items?: { pattern?: string } };

function knownColumns(importable: Importable): Map<string, Column> {
  const { input, patch, existing, keys, synonyms, joined = {}, project } = importable;
  const writable = { ...input.properties, ...patch.properties } as Record<string, FieldSchema>;
  const known = new Map<string, Column>();
  const add = (name: string, column: Column | undefined) => {
    if (column && !known.has(normalizeName(name))) known.set(normalizeName(name), column);
  };
  const columns = new Map(
    Object.entries(writable).map(([field, property]) => [field, columnOf(field, property)]),
  );
  for (const [field, column] of columns) add(field, column);
  for (const field of Object.keys(existing.schema.properties)) {
    if (keys.some((key) => key.field === field)) add(field, { is: 'identity', field });
    else if (project && /^project_(id|key)$/.test(field)) add(field, { is: 'project', field });
    else if (nameColumn(field, columns)) add(field, nameColumn(field, columns));
    else add(field, ignored);
  }
  for (const field of Object.keys(writable).filter((field) => /_id$/.test(field))) {
    const base = field.replace(/(_user|_group)?_id$/, '');
    add(base, known.get(normalizeName(`${base}_name`)) ?? columns.get(field));
  }
  for (const [field, names] of Object.entries(synonyms)) {
    for (const name of names) add(name, columns.get(field) ?? known.get(normalizeName(field)));
  }
  for (const [field, parts] of Object.entries(joined)) {
    for (const [position, names] of parts.entries())
      for (const name of names) add(name, { is: 'part', field, position });
  }
  return known;
}

/** The kind of resource that a field refers to, if it is a reference. */
export function kindNamed({ items, pattern }: FieldSchema): ReferenceKind | undefined {
  return kinds.find((kind) => (items?.pattern ?? pattern) === idPattern(kind));
}

function columnOf(field: string, property: FieldSchema): Column {
  const kind = kindNamed(property);
  return kind
    ? { is: 'reference', field, kind, isList: property.items !== undefined }
    : { is: 'field', field, read: cellReader(property) };
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
function attributeColumn({ patch }: { patch: TObject }, text: string): Column | undefined {
  const [, name] = /^attributes\.(.+)$/.exec(text.trim()) ?? [];
  return name !== undefined && 'attributes' in patch.properties
    ? { is: 'attribute', field: 'attributes', name: name.trim() }
    : undefined;
}

function unknownField(name: string, field: string, fields: readonly string[]): Problem {
  const suggestion = nearest(field, fields);
  const detail = `\`map\` assigns “${shortened(name)}” to \`${shortened(field)}\`, which is not a field. ${
    suggestion ? `Did you mean \`${suggestion}\`?` : `Fields are ${joinWords(fields)}.`
  }`;
  return new Problem('invalid_parameter', detail, {
    errors: [{ parameter: 'map', code: 'unknown_field', detail }],
  });
}
