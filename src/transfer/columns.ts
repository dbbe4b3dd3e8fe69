import type { TObject } from 'typebox';
import { type FieldError, Problem } from '../core/errors.ts';
import { idPattern } from '../core/ids.ts';
import { fold, joinWords, nearest, shortened } from '../core/text.ts';
import { cellReader, type Property } from '../formats/cells.ts';
import type { Importable } from './importable.ts';
import type { Kind } from './matching.ts';

/** What the cells of a column are. */
export type Column =
  | { is: 'field'; field: string; read(cell: unknown): unknown }
  | { is: 'reference'; field: string; kind: Kind; isList: boolean }
  /** What people call someone, beside or instead of the fields that hold the id. */
  | { is: 'name'; field: string; among: readonly { field: string; kind: Kind }[] }
  /** One of the texts that make up a field, such as a first and a last name. */
  | { is: 'part'; field: string; place: number }
  | { is: 'attribute'; field: string; name: string }
  /** By what a row is known, though it cannot be written. */
  | { is: 'identity'; field: string }
  | { is: 'project'; field: string }
  | { is: 'nothing'; field: '' };

export type Columns = {
  /** Those that were asked for, by name, and are known. */
  taken: ReadonlyMap<string, Column>;
  /** What the column of this name is; undefined when nobody knows. */
  named(name: string): Column | undefined;
  /** The column that was asked for as this field. */
  nameOf(field: string): string | undefined;
  /** What to do about a column that is not known; `isFirst` of several also lists those that are. */
  unknown(name: string, isFirst: boolean): string;
};

/** What columns a noun's file may have, under which names. `map` says it for names that do not tell. */
export function columnsOf(importable: Importable, map: ReadonlyMap<string, string>): Columns {
  const known = knownColumns(importable);
  const fields = [...new Set([...known.values()].map(({ field }) => field))].filter((field) => field !== '');
  const mapped = new Map(
    [...map].map(([name, field]) => {
      const column = field === '' ? nothing : (attributeColumn(importable, field) ?? known.get(plain(field)));
      if (!column) throw unknownField(name, field, fields);
      return [name, column] as const;
    }),
  );
  const taken = new Map<string, Column>();
  const byField = new Map<string, string>();
  const canKeep = 'attributes' in importable.patch.properties;
  const allColumns = `Its columns are ${joinWords(fields)}. `;
  const suggestions = new Map<string, string | undefined>();
  /** Files may have millions of unknown names: those beyond the first thousand get no suggestion. */
  const suggestion = (name: string) => {
    if (!suggestions.has(name) && suggestions.size < maxSuggestions)
      suggestions.set(name, known.get(nearest(plain(name), [...known.keys()]) ?? '')?.field);
    return suggestions.get(name);
  };
  return {
    taken,
    named(name) {
      const column =
        taken.get(name) ??
        mapped.get(asMapped(name)) ??
        attributeColumn(importable, name) ??
        known.get(plain(name));
      if (column && !taken.has(name)) {
        taken.set(name, column);
        if (!byField.has(column.field)) byField.set(column.field, name);
      }
      return column;
    },
    nameOf: (field) => (field === '' ? undefined : byField.get(field)),
    unknown(name, isFirst) {
      const shown = shortened(name);
      const field = suggestion(shown);
      return (
        `“${shown}” is not a column that is known here. ${field ? `Did you mean \`${field}\`? ` : ''}` +
        `${isFirst ? allColumns : ''}Say with \`map\` which of these it is, ` +
        `${canKeep ? `keep it as an attribute (\`${shown}=attributes.${shown}\`), ` : ''}` +
        `or leave it out (\`${shown}=\`).`
      );
    },
  };
}

const maxSuggestions = 1000;

/** The name of a column as `map` has it: a list loses the blanks around its commas. */
export const asMapped = (name: string) =>
  name
    .split(',')
    .map((part) => part.trim())
    .join(',');

/** The columns of a table, refused when one is unknown, two are the same, or one that is needed is not there. */
export function tableColumns(
  names: readonly string[],
  columns: Columns,
  importable: Importable,
  mode: string,
) {
  const found = names.map((name) => (name === '' ? nothing : columns.named(name)));
  const refused = (errors: FieldError[]) => {
    const taken = names.map((name, i) => [shortened(name), found[i] ? targetOf(found[i]) : null]);
    return refusedFile(errors, Object.fromEntries(taken.slice(0, maxNamedColumns)));
  };
  if (found.every((column) => column === undefined || column.is === 'nothing')) {
    throw refused([
      {
        code: 'no_header',
        detail:
          `The first line must name the columns, such as ${joinWords(Object.keys(importable.input.properties).slice(0, 3))}. ` +
          `It has ${joinWords(names.slice(0, 5).map((name) => `“${shortened(name)}”`))}.`,
      },
    ]);
  }
  const errors: FieldError[] = names
    .filter((_, i) => found[i] === undefined)
    .slice(0, maxNamedColumns)
    .map((name, i) => ({
      column: shortened(name),
      code: 'unknown_column',
      detail: columns.unknown(name, i === 0),
    }));
  const firsts = new Map<string, string>();
  for (const [i, column] of found.entries()) {
    if (!column || column.is === 'nothing') continue;
    const name = shortened(names[i] ?? '');
    const target = `${column.is} ${targetOf(column)} ${column.is === 'part' ? column.place : ''}`;
    const first = firsts.get(target);
    if (first === undefined) firsts.set(target, name);
    else if (errors.length < maxNamedColumns) {
      const detail = `“${first}” and “${name}” are both \`${targetOf(column)}\`. Leave one out with \`map\`.`;
      errors.push({ column: name, code: 'repeated_column', detail });
    }
  }
  const required = mode === 'create' ? ((importable.input.required as string[] | undefined) ?? []) : [];
  for (const field of required.filter((field) => !found.some((column) => column?.field === field))) {
    const detail = `No column is the \`${field}\`, which every ${importable.what} needs. Say with \`map\` which one it is.`;
    errors.push({ code: 'missing_column', detail });
  }
  if (errors.length > 0) throw refused(errors);
  return found.map((column) => column ?? nothing);
}

/**
 * 422 for a file whose columns cannot be what is imported here. Nothing of it is looked at. What each column was taken
 * for goes along, so that who sent it can say with `map` what it is.
 */
const refusedFile = (errors: FieldError[], columns: Record<string, string | null>) =>
  new Problem('invalid_body', sentencesOf(errors), { errors, extra: { columns } });

/** An error names no more columns than this. */
const maxNamedColumns = 100;
const maxSentences = 5;

const sentencesOf = (errors: FieldError[]) =>
  errors
    .slice(0, maxSentences)
    .map(({ detail }) => detail)
    .concat(errors.length > maxSentences ? ['The others are in `errors`.'] : [])
    .join(' ');

/** What a column is taken for, as it is told. */
export const targetOf = (column: Column) =>
  column.is === 'attribute' ? `attributes.${column.name}` : column.field;

const nothing: Column = { is: 'nothing', field: '' };

/** Names are compared without case, blanks and marks: `E-mail` is `email`. */
const plain = (name: string) => fold(name).replace(/[^\p{L}\p{N}]+/gu, '');

const kinds: readonly Kind[] = ['person', 'group', 'risk', 'issue'];

type Described = Property & { pattern?: string; items?: { pattern?: string } };

function knownColumns(importable: Importable): Map<string, Column> {
  const { input, patch, existing, keys, synonyms, joined = {}, project } = importable;
  const writable = { ...input.properties, ...patch.properties } as Record<string, Described>;
  const known = new Map<string, Column>();
  const add = (name: string, column: Column | undefined) => {
    if (column && !known.has(plain(name))) known.set(plain(name), column);
  };
  const columns = new Map(
    Object.entries(writable).map(([field, property]) => [field, columnOf(field, property)]),
  );
  for (const [field, column] of columns) add(field, column);
  for (const field of Object.keys(existing.schema.properties)) {
    if (keys.some((key) => key.field === field)) add(field, { is: 'identity', field });
    else if (project && /^project_(id|key)$/.test(field)) add(field, { is: 'project', field });
    else if (nameColumn(field, columns)) add(field, nameColumn(field, columns));
    else add(field, nothing);
  }
  for (const field of Object.keys(writable).filter((field) => /_id$/.test(field))) {
    const base = field.replace(/(_user|_group)?_id$/, '');
    add(base, known.get(plain(`${base}_name`)) ?? columns.get(field));
  }
  for (const [field, names] of Object.entries(synonyms)) {
    for (const name of names) add(name, columns.get(field) ?? known.get(plain(field)));
  }
  for (const [field, parts] of Object.entries(joined)) {
    for (const [place, names] of parts.entries())
      for (const name of names) add(name, { is: 'part', field, place });
  }
  return known;
}

/** What kind of thing a field names, if it names one. */
export function kindNamed({ items, pattern }: Described): Kind | undefined {
  return kinds.find((kind) => (items?.pattern ?? pattern) === idPattern(kind));
}

function columnOf(field: string, property: Described): Column {
  const kind = kindNamed(property);
  return kind
    ? { is: 'reference', field, kind, isList: property.items !== undefined }
    : { is: 'field', field, read: cellReader(property) };
}

/** `owner_name` says by name what `owner_user_id` or `owner_group_id` says by id. */
function nameColumn(field: string, columns: Map<string, Column>): Column | undefined {
  const base = /^(.+)_name$/.exec(field)?.[1];
  const among = [...columns.values()].filter(
    (column) => column.is === 'reference' && [`${base}_user_id`, `${base}_group_id`].includes(column.field),
  ) as { field: string; kind: Kind }[];
  return among.length === 0 ? undefined : { is: 'name', field, among };
}

/** `attributes.badge` is the attribute `badge`. */
function attributeColumn({ patch }: { patch: TObject }, text: string): Column | undefined {
  const [, name] = /^attributes\.(.+)$/.exec(text.trim()) ?? [];
  return name !== undefined && 'attributes' in patch.properties
    ? { is: 'attribute', field: 'attributes', name: name.trim() }
    : undefined;
}

function unknownField(name: string, field: string, fields: readonly string[]): Problem {
  const meant = nearest(field, fields);
  const detail = `\`map\` says that “${shortened(name)}” is \`${shortened(field)}\`, which is not a field. ${
    meant ? `Did you mean \`${meant}\`?` : `There are ${joinWords(fields)}.`
  }`;
  return new Problem('invalid_parameter', detail, {
    errors: [{ parameter: 'map', code: 'unknown_field', detail }],
  });
}
