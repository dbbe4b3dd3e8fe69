import type { TObject, TProperties } from 'typebox';
import { type FieldError, fieldError, Problem } from '../core/errors.ts';
import { limits, Strict } from '../core/schemas.ts';
import { normalize, shortened } from '../core/text.ts';
import type { Row } from '../formats/rows.ts';
import { normalizeValue } from '../http/request/body-parsers.ts';
import { checkOf } from '../http/request/validation.ts';
import { type Column, type Columns, kindNamed } from './columns.ts';
import type { Importable } from './importable.ts';
import type { Kind } from './matching.ts';

/** A row as it was understood, before anything is looked up for it. */
export type ParsedRow = {
  /** Its place among the rows, from 0. */
  index: number;
  line: number;
  /** Fields and what they shall be; what is undefined was not said. */
  values: Record<string, unknown>;
  references: Reference[];
  /** Whether its attributes are only those that have columns of their own: the others stay. */
  hasSomeAttributes: boolean;
  identity: Record<string, string>;
  errors: FieldError[];
  /** Nothing is known of it, so nothing else is wrong with it. */
  isUnreadable?: true;
};

/** A field that names something. What it is called decides where the field itself, if there is one, says nothing. */
export type Reference = {
  field: string;
  texts: string[];
  isList: boolean;
  among: readonly { field: string; kind: Kind }[];
  /** Whether it is what people call it, in a column of its own. */
  isName: boolean;
};

/** A row names no more errors than this. */
const maxErrors = 20;

/** More than any list of a resource may have. */
const maxListItems = 1000;

/** Longer than any name, id or e-mail. */
const maxReferenceLength = 500;

/** Makes the reader of a noun's rows. */
export function createRowParser(importable: Importable, columns: Columns, isTable: boolean) {
  const check = checkOf(withoutReferences(importable));
  let names: readonly string[] = [];
  let known: (Column | undefined)[] = [];

  return (row: Row, index: number): ParsedRow => {
    const draft: ParsedRow = {
      index,
      line: row.line,
      values: {},
      references: [],
      hasSomeAttributes: false,
      identity: {},
      errors: [],
    };
    if (row.error !== undefined) {
      return { ...draft, isUnreadable: true, errors: [{ code: 'unreadable', detail: row.error }] };
    }
    if (isTable && row.names !== names) {
      names = row.names;
      known = names.map((name) => (name === '' ? undefined : columns.named(name)));
    }
    const apart: Apart = { parts: {}, attributes: {} };
    for (const [i, name] of row.names.entries()) {
      // A row may have many more names than are known; what is wrong with it has been said often enough.
      if (draft.errors.length >= maxErrors) break;
      const column = isTable ? known[i] : columns.named(name);
      if (column) readCell(draft, apart, column, row.cells[i], isTable, importable);
      else if (!isTable) draft.errors.push(unknownMember(name, columns, draft.errors.length === 0));
    }
    putTogether(draft, apart);
    draft.errors.push(...check(draft.values));
    draft.errors.splice(maxErrors);
    return draft;
  };
}

/** What stands in several columns. */
type Apart = { parts: Record<string, string[]>; attributes: Record<string, string | null> };

function putTogether(draft: ParsedRow, { parts, attributes }: Apart): void {
  const { values } = draft;
  for (const [field, texts] of Object.entries(parts)) {
    values[field] ??= texts.filter((text) => text).join(' ') || undefined;
  }
  if (Object.keys(attributes).length === 0) return;
  draft.hasSomeAttributes = values.attributes === undefined;
  values.attributes = normalized(draft, 'attributes', { ...(values.attributes as object), ...attributes });
}

function readCell(
  draft: ParsedRow,
  apart: Apart,
  column: Column,
  cell: unknown,
  isTable: boolean,
  { project }: Importable,
): void {
  const isText = column.is !== 'field' && column.is !== 'reference' && column.is !== 'nothing';
  if (isText && typeof cell === 'object' && cell !== null) {
    draft.errors.push(fieldError(column.field, 'type', 'This must be text or null.'));
    return;
  }
  switch (column.is) {
    case 'field': {
      const value = isTable ? column.read(cell) : cell;
      if (value !== undefined) draft.values[column.field] = normalized(draft, column.field, value);
      break;
    }
    case 'reference':
    case 'name': {
      const among = column.is === 'name' ? column.among : [column];
      const isList = column.is === 'reference' && column.isList;
      const texts = textsOf(cell, isList, isTable);
      if (texts && (texts.length > maxListItems || texts.some(({ length }) => length > maxReferenceLength)))
        draft.errors.push(fieldError(column.field, 'maxLength', tooLong));
      else if (texts)
        draft.references.push({ field: column.field, texts, isList, among, isName: column.is === 'name' });
      else
        draft.errors.push(
          fieldError(
            column.field,
            'type',
            isList ? 'This must be a list of texts.' : 'This must be text or null.',
          ),
        );
      break;
    }
    case 'part': {
      apart.parts[column.field] ??= [];
      (apart.parts[column.field] ?? [])[column.place] = textOf(cell);
      break;
    }
    case 'attribute':
      apart.attributes[column.name] = textOf(cell) === '' ? null : textOf(cell);
      break;
    case 'identity':
      if (textOf(cell) !== '') draft.identity[column.field] = textOf(cell);
      break;
    case 'project':
      if (textOf(cell) !== '' && project && ![project.id, project.key].includes(textOf(cell))) {
        const detail = `This row is of the project ${shortened(textOf(cell))}, not of ${project.key}. Import it there.`;
        draft.errors.push(fieldError(column.field, 'other_project', detail));
      }
  }
}

const tooLong = `This may name ${maxListItems} things at most, each with ${maxReferenceLength} characters at most.`;

const textOf = (cell: unknown) => (cell === undefined || cell === null ? '' : normalize(String(cell)));

/** None, one or several; undefined when these are no texts. */
function textsOf(cell: unknown, isList: boolean, isTable: boolean): string[] | undefined {
  if (cell === undefined || cell === null || cell === '') return [];
  if (isTable)
    return (isList ? String(cell).split(';', maxListItems + 1) : [String(cell)])
      .map(normalize)
      .filter((text) => text !== '');
  const texts = isList ? cell : [cell];
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
    ? texts
        .slice(0, maxListItems + 1)
        .map(normalize)
        .filter((text) => text !== '')
    : undefined;
}

function normalized(draft: ParsedRow, field: string, value: unknown): unknown {
  // Before the text is looked at: a character outside of the basic plane counts as two here.
  if (typeof value === 'string' && value.length > 2 * limits.text_characters) {
    const detail = `This may have ${limits.text_characters} characters at most.`;
    draft.errors.push(fieldError(field, 'maxLength', detail));
    return undefined;
  }
  if (Array.isArray(value) && value.length > maxListItems) {
    const detail = `This may have ${maxListItems} items at most.`;
    draft.errors.push(fieldError(field, 'maxItems', detail));
    return undefined;
  }
  try {
    return normalizeValue(value, `#/${field}`, 1, draft.errors);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    draft.errors.push(fieldError(field, error.code, error.message));
    return undefined;
  }
}

const unknownMember = (name: string, columns: Columns, isFirst: boolean): FieldError => ({
  pointer: `#/${shortened(name)}`,
  code: 'unknown_field',
  detail: columns.unknown(name, isFirst),
});

/** What a row's own values must be; what it names is checked when it is found. */
function withoutReferences({ patch }: Importable): TObject {
  const own = Object.entries(patch.properties).filter(([, property]) => !kindNamed(property));
  return Strict(Object.fromEntries(own) as TProperties);
}
