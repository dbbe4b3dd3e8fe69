import type { TObject, TProperties } from 'typebox';
import { type FieldError, fieldError, Problem } from '../core/errors.ts';
import { attributesLimit, limits, Strict } from '../core/schemas.ts';
import { hasForbiddenCharacters, normalize, shortened } from '../core/text.ts';
import type { Row } from '../formats/rows.ts';
import { forbiddenCharacters, normalizeValue } from '../http/request/body-parsers.ts';
import { checkOf } from '../http/request/validation.ts';
import { type Importable, isProject, type ReferenceKind, type Resource } from './importable.ts';
import { type Column, kindNamed, targetOf } from './recognize/catalogue.ts';
import type { Columns } from './recognize/columns.ts';
import { inReadingOrder } from './recognize/evidence.ts';
import { headingOf, repeatedMember, unknownMember } from './recognize/header.ts';
import { findWord } from './recognize/names.ts';
import { explainError } from './recognize/values.ts';
import { created, hasAllWords, readNote } from './references/people.ts';

/** A row with typed values, before its references are resolved. */
export type ParsedRow = {
  /** Its position in the file, from 0. */
  index: number;
  line: number;
  /** The cells, if the results contain those of failed rows. */
  source?: Row;
  /** The values by field. Undefined means that the row does not set the field. */
  values: Record<string, unknown>;
  references: Reference[];
  /** Whether the row sets only the attributes with a column of their own, and leaves all other attributes. */
  hasSomeAttributes: boolean;
  identity: Record<string, string>;
  /** The texts that name the project of the row; in an import into one project, those that name this project. */
  projects?: string[];
  /** The texts that name another project than the one that is imported into, or that have its id in another service. */
  otherProjects?: { field: string; text: string }[];
  /** The request creates the project of the row, if there is none. */
  createsProject?: true;
  /** The project of the row that the request leaves out. */
  leftOut?: string;
  errors: FieldError[];
  /** What is odd but does not stop the row. */
  warnings: FieldError[];
  /** Fields that a row sets only if it creates a resource: the file has just a part of them, or something instead. */
  onlyNew: string[];
  /** The text whose first line is the title. */
  heading?: string;
  /** The row could not be parsed, so no further errors are reported for it. */
  isUnreadable?: true;
};

/** A field that refers to another resource. A name is used only if the field with the id is empty. */
export type Reference = {
  field: string;
  texts: string[];
  isList: boolean;
  targets: readonly { field: string; kind: ReferenceKind }[];
  /** Whether it comes from a name column such as `owner_name`. */
  isName: boolean;
  /** Whether the file is a table, which also has words for nobody. */
  isTable: boolean;
};

/** The number of errors that are reported for a row. */
const maxErrors = 20;

/** More than any list of a resource may have, and the number of people that a cell can name other than by their ids. */
const maxListItems = 1000;

/** The number of different people that a file can name other than by their ids: each is looked up. */
const maxNamed = 100_000;

/** The number of ids in a cell, such as the members of a large group. */
const maxIds = 10_000;

/** Longer than any name, id or email. */
const maxReferenceLength = 500;

export function createRowParser(
  importable: Importable,
  columns: Columns,
  isTable: boolean,
  keepsSource = false,
) {
  const check = checkOf(schemaWithoutReferences(importable));
  const named = new Set<string>();
  const inTable = isTable ? columns.table() : [];
  const { joined = {}, personNames = [] } = importable;
  // `First name` alone is not the name of somebody who has one.
  const partial = personNames.filter((field) => {
    const parts = new Set(
      inTable.flatMap((one) => (one.is === 'part' && one.field === field ? one.position : [])),
    );
    return parts.size > 0 && parts.size < (joined[field]?.length ?? 0);
  });

  return (row: Row, index: number): ParsedRow => {
    const parsed: ParsedRow = {
      index,
      line: row.line,
      ...(keepsSource && { source: row }),
      values: {},
      references: [],
      hasSomeAttributes: false,
      onlyNew: [],
      identity: {},
      errors: [],
      warnings: row.warning ? [row.warning] : [],
    };
    if (row.error !== undefined) {
      return { ...parsed, isUnreadable: true, errors: [{ code: 'unreadable', detail: row.error }] };
    }
    // A member of an object without a prototype can also be named `__proto__`.
    const split: SplitValues = {
      parts: {},
      attributes: Object.create(null),
      computed: [],
      words: {},
      free: {},
    };
    const targets = new Map<string, string>();
    for (const [i, name] of row.names.entries()) {
      // A row of NDJSON can have thousands of unknown names.
      if (parsed.errors.length >= maxErrors) break;
      const column = isTable ? inTable[i] : columns.find(name);
      const other = column && !isTable ? targets.get(targetOf(column)) : undefined;
      if (column && !isTable && column.is !== 'part' && column.is !== 'ignored')
        targets.set(targetOf(column), name);
      if (column && other !== undefined) parsed.errors.push(repeatedMember(column, other, name));
      else if (column) readCell(parsed, split, column, row.cells[i], isTable, importable, columns);
      else if (!isTable)
        parsed.errors.push(unknownMember(name, columns.explainUnknown(name, parsed.errors.length === 0)));
    }
    if (isTable) for (const field of personNames) readNote(parsed, field);
    const isSet = createGivenFields(parsed, split);
    for (const { column, text } of columns.constants())
      if (!isSet(column)) readCell(parsed, split, column, text, true, importable, columns);
    parsed.onlyNew.push(...partial.filter((field) => parsed.values[field] === undefined));
    joinSplitValues(parsed, split, importable);
    for (const { field, texts } of parsed.references) {
      const added = texts.filter((text) => !isId(text) && !named.has(text));
      if (named.size + added.length > maxNamed) parsed.errors.push(fieldError(field, 'too_many', tooMany));
      else for (const text of added) named.add(text);
    }
    if (parsed.leftOut !== undefined)
      return { ...parsed, values: {}, references: [], identity: {}, errors: [], warnings: [] };
    const errors = check(parsed.values);
    const explain = (error: FieldError) => {
      const field = error.pointer?.slice('#/'.length) ?? '';
      return explainError(error, { ...columns.describe(field), value: parsed.values[field] });
    };
    parsed.errors.push(...(isTable ? errors.map(explain) : errors));
    parsed.errors.splice(maxErrors);
    return parsed;
  };
}

/** Returns whether the row itself has a value for the field of a column. */
function createGivenFields({ values, references, projects }: ParsedRow, { attributes, parts }: SplitValues) {
  const named = references.filter(({ texts }) => texts.length > 0);
  const fields = new Set(named.flatMap(({ field, targets }) => [field, ...targets.map((one) => one.field)]));
  return (column: Column): boolean => {
    if (column.is === 'attribute') return attributes[column.name] != null;
    if (column.is === 'project') return projects !== undefined;
    if (column.is === 'name') return column.targets.some(({ field }) => fields.has(field));
    if (column.is === 'reference') return fields.has(column.field);
    const value = values[column.field];
    const isEmptyList = Array.isArray(value) && value.length === 0;
    return (value != null && !isEmptyList) || parts[column.field]?.some((text) => text) === true;
  };
}

/** Values that are spread over several columns. */
type SplitValues = {
  parts: Record<string, string[]>;
  attributes: Record<string, string | null>;
  computed: { field: string; text: string }[];
  /** The cells of fields with words that say something else, too. */
  words: Record<string, string>;
  /** Texts for a field that another column has, too. */
  free: Record<string, string[]>;
  isArchived?: boolean;
};

function joinSplitValues(
  parsed: ParsedRow,
  { parts, attributes, computed, words, free, isArchived }: SplitValues,
  importable: Importable,
): void {
  const { values } = parsed;
  if (isArchived) values.status = importable.archivedStatus?.(values.status) ?? values.status;
  for (const [source, text] of Object.entries(words)) {
    const implied = findWord(text, importable.implied?.[source] ?? new Map<string, Resource>()) ?? {};
    for (const field of Object.keys(implied).filter((field) => values[field] == null)) {
      values[field] = implied[field];
      if (source === 'status') continue;
      const detail = `“${shortened(text)}” says that this is \`${implied[field]}\`.`;
      parsed.warnings.push(fieldError(field, 'completed', detail));
    }
  }
  for (const [field, texts] of Object.entries(free))
    values[field] = normalizeField(parsed, field, [values[field], ...texts].filter(Boolean).join('\n'));
  for (const { field, text } of computed) {
    const { differs, rejects } = importable.computed ?? {};
    const detail = differs?.(values, field, text);
    if (detail) parsed.warnings.push(fieldError(field, 'differs', detail));
    const rejection = rejects?.(values, field, text);
    if (rejection) parsed.errors.push(fieldError(field, 'other_version', rejection));
  }
  for (const [field, texts] of Object.entries(parts)) {
    const joined = texts.filter((text) => text).join(' ');
    values[field] ??= joined || undefined;
    if (joined === '' || joined === values[field] || hasAllWords(String(values[field]), joined)) continue;
    // `Nom` beside `Prénom` is the last name, as `Nombre` beside `Apellidos` is the first one.
    const missing = importable.joined?.[field]?.flatMap((_, i) => (i in texts ? [] : i)) ?? [];
    const [part, another] = missing;
    if (part !== undefined && another === undefined && typeof values[field] === 'string') {
      texts[part] = values[field];
      values[field] = texts.filter((text) => text).join(' ');
      continue;
    }
    const detail = `The ${field} is “${shortened(String(values[field]))}”, so “${shortened(joined)}” in other columns was not used.`;
    parsed.warnings.push(fieldError(field, 'not_used', detail));
  }
  // The schema rejects it; merged with attributes, a text would become an attribute for each character.
  if (
    values.attributes != null &&
    (typeof values.attributes !== 'object' || Array.isArray(values.attributes))
  )
    return;
  const { length } = Object.keys(attributes);
  for (const [name, value] of Object.entries((values.attributes ?? {}) as Record<string, unknown>)) {
    if (!Object.hasOwn(attributes, name) || attributes[name] === value) continue;
    const detail = `\`attributes\` and the column of this attribute have different values. Clear one of them.`;
    parsed.errors.push(fieldError(`attributes/${name}`, 'contradiction', detail));
  }
  if (length === 0) return;
  if (length > attributesLimit) {
    const detail = `This may have ${attributesLimit} members at most.`;
    parsed.errors.push(fieldError('attributes', 'maxProperties', detail));
    return;
  }
  parsed.hasSomeAttributes = values.attributes === undefined;
  values.attributes = normalizeField(parsed, 'attributes', {
    ...(values.attributes as object),
    ...attributes,
  });
}

function readCell(
  parsed: ParsedRow,
  split: SplitValues,
  column: Column,
  cell: unknown,
  isTable: boolean,
  { project, personNames = [], freeText = {}, implied = {} }: Importable,
  columns: Columns,
): void {
  const isText = column.is !== 'field' && column.is !== 'reference' && column.is !== 'ignored';
  if (isText && typeof cell === 'object' && cell !== null) {
    parsed.errors.push(fieldError(column.field, 'type', 'This must be text or null.'));
    return;
  }
  // Fields are checked when they are normalized. Other texts are compared with stored ones, or joined.
  if (column.is !== 'field' && column.is !== 'ignored' && textsIn(cell).some(hasForbiddenCharacters)) {
    parsed.errors.push(fieldError(column.field, 'forbidden_characters', forbiddenCharacters));
    return;
  }
  switch (column.is) {
    case 'field': {
      const read = column.read ? column.read(cell) : cell;
      const isName = columns.hasInvertedNames() && personNames.includes(column.field);
      if (column.field in implied && isTable) split.words[column.field] = textOf(cell);
      const value = isName && typeof read === 'string' ? inReadingOrder(read) : read;
      const textField = isTable ? freeText[column.field] : undefined;
      if (textField && typeof value === 'string' && column.property.enum?.includes(value) === false) {
        split.free[textField] = [...(split.free[textField] ?? []), value];
        break;
      }
      if (value !== undefined) parsed.values[column.field] = normalizeField(parsed, column.field, value);
      break;
    }
    case 'reference':
    case 'name': {
      const targets = column.is === 'name' ? column.targets : [column];
      const isList = column.is === 'reference' && column.isList;
      const given = textsOf(column.read ? column.read(cell) : cell, isList, isTable);
      const texts = columns.hasInvertedNames() ? given?.map(inReadingOrder) : given;
      const named = texts?.filter((text) => !isId(text)) ?? [];
      const isTooLong = named.some(({ length }) => length > maxReferenceLength);
      if (texts && (texts.length > maxIds || named.length > maxListItems || isTooLong))
        parsed.errors.push(fieldError(column.field, 'maxLength', tooLong));
      else if (texts)
        parsed.references.push({
          field: column.field,
          texts: [...new Set(texts)],
          isList,
          targets,
          isName: column.is === 'name',
          isTable,
        });
      else
        parsed.errors.push(
          fieldError(
            column.field,
            'type',
            isList ? 'This must be a list of strings.' : 'This must be text or null.',
          ),
        );
      break;
    }
    case 'part': {
      split.parts[column.field] ??= [];
      (split.parts[column.field] ?? [])[column.position] = textOf(cell);
      break;
    }
    case 'attribute':
      split.attributes[column.name] = textOf(cell) === '' ? null : textOf(cell);
      break;
    case 'identity':
      if (textOf(cell) !== '') parsed.identity[column.field] = textOf(cell);
      break;
    case 'heading': {
      const text = normalizeField(parsed, column.rest, textOf(cell));
      Object.assign(parsed.values, headingOf(text));
      if (typeof text !== 'string' || text === '') break;
      parsed.heading = text;
      parsed.onlyNew.push('title');
      break;
    }
    case 'archived': {
      const read = column.read?.(cell);
      if (read === 'archived') split.isArchived = true;
      else if (textOf(read) !== '' && read !== 'current')
        parsed.errors.push(fieldError('status', 'enum', 'This must be yes or no.'));
      break;
    }
    case 'computed':
      if (textOf(cell) !== '') split.computed.push({ field: column.field, text: shortened(textOf(cell)) });
      break;
    case 'project': {
      const written = textOf(cell);
      const assigned = column.read ? textOf(column.read(cell)) : written;
      if (written !== '' && assigned === '') parsed.leftOut = written;
      if (assigned === '') break;
      if (assigned === created) parsed.createsProject = true;
      const text = assigned === created ? written : assigned;
      if (!project || isProject(project, text)) parsed.projects = [...(parsed.projects ?? []), text];
      else parsed.otherProjects = [...(parsed.otherProjects ?? []), { field: column.field, text }];
    }
  }
}

const isId = (text: string) => /^(?:usr|grp|rsk|iss)_\w+$/.test(text);

const tooMany = `The rows up to here name more than ${maxNamed} different people, groups or items. Split the file, or use IDs.`;

const tooLong = `This can have at most ${maxIds} IDs, or ${maxListItems} names of at most ${maxReferenceLength} characters each.`;

const textsIn = (cell: unknown) =>
  (Array.isArray(cell) ? cell.slice(0, maxIds + 1) : [cell]).filter((text) => typeof text === 'string');

const textOf = (cell: unknown) => (cell === undefined || cell === null ? '' : normalize(String(cell)));

/** The texts of a reference; undefined if the cell has the wrong type. */
function textsOf(cell: unknown, isList: boolean, isTable: boolean): string[] | undefined {
  if (cell === undefined || cell === null || cell === '') return [];
  const inTable = isList ? String(cell).split(';', maxIds + 1) : [String(cell)];
  const inObject = isList ? cell : [cell];
  const texts = isTable ? inTable : inObject;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return undefined;
  return texts
    .slice(0, maxIds + 1)
    .map(normalize)
    .filter((text) => text !== '');
}

function normalizeField(parsed: ParsedRow, field: string, value: unknown): unknown {
  // A cheap check before the text is normalized: `length` counts some characters twice.
  if (typeof value === 'string' && value.length > 2 * limits.text_characters) {
    const detail = `This can have at most ${limits.text_characters} characters.`;
    parsed.errors.push(fieldError(field, 'maxLength', detail));
    return undefined;
  }
  if (Array.isArray(value) && value.length > maxListItems) {
    const detail = `This can have at most ${maxListItems} items.`;
    parsed.errors.push(fieldError(field, 'maxItems', detail));
    return undefined;
  }
  try {
    return normalizeValue([`#/${field}`], value, 1, parsed.errors);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    parsed.errors.push(fieldError(field, error.code, error.message));
    return undefined;
  }
}

/** The patch schema without references, which are checked when they are resolved. */
function schemaWithoutReferences({ patch }: Importable): TObject {
  const own = Object.entries(patch.properties).filter(([, property]) => !kindNamed(property));
  return Strict(Object.fromEntries(own) as TProperties);
}
