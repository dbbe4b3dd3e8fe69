import type { Transaction } from 'kysely';
import { type FieldError, fieldError, type Problem } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Created } from '../../store/writes/create-many.ts';
import { wordsOfAll } from '../languages/all.ts';
import { inReadingOrder } from '../recognize/evidence.ts';
import { normalizeWord } from '../recognize/names.ts';

export const unknownPeople = ['error', 'leave_empty', 'create'] as const;

/** What an import does with a text that matches nobody in a column for people. */
export type PeoplePolicy = (typeof unknownPeople)[number];

/** What `map_values` assigns a text to, so that this person or project is created. No name consists of it. */
export const created = '*';

/** Creates people who are known by name only. Returns a problem for each one that cannot be created. */
export type CreatePlaceholders = (
  db: Transaction<Tables>,
  people: readonly { name: string; email?: string }[],
  change: Change,
) => Promise<(Created | Problem)[]>;

/** A text in a column for people that matched nobody before the import, and the placeholder that was created for it. */
export type UnknownPerson = { field: string; text: string; user_id?: string };

/** The words of other tools for nobody. Only punctuation, such as a dash, means nobody too. */
const nobody = new Set(wordsOfAll((language) => language.nobody).map(normalizeWord));

/** Whether a text such as `TBD`, `n/a` or `-` says that there is nobody. */
export const isNobody = (text: string) => nobody.has(normalizeWord(text)) || !/[\p{L}\p{N}]/u.test(text);

/**
 * The people in `Ada Lovelace, Grace Hopper` and in `Lovelace, Ada; Hopper, Grace`. `Lovelace, Ada` alone is looked up as a
 * whole before.
 */
export function peopleIn(text: string): string[] {
  if (isDistinguished(text)) return [text];
  const people = partsOf(text, /[;/&\n]/);
  const areNames = people.every((person) => !person.includes(',') || isLastAndFirst(person));
  return people.length > 1 && areNames ? people : partsOf(text, /[;,/&\n]/);
}

const isDistinguished = (text: string) => /^CN=/i.test(text);

/** The name in `CN=Grace Hopper,OU=Staff,DC=example,DC=com`, the distinguished name of a directory. */
export const commonName = (text: string) =>
  isDistinguished(text) ? text.replace(/^CN=((?:[^,\\]|\\.)+)(,.*)?$/is, '$1').replaceAll('\\', '') : text;

/** More than a cell may have; further ones are not even separated. */
const maxPeople = 10_000;

const partsOf = (text: string, separator: RegExp) =>
  text
    .split(separator, maxPeople + 1)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Whether a text can be one name: of two people with a comma between them, both have a first and a last name. */
function isLastAndFirst(text: string): boolean {
  const parts = partsOf(text, /,/);
  return parts.length === 2 && !text.includes('@') && parts.some((part) => !/\S\s+\S/.test(part));
}

/** Replaces the texts of a cell that the request assigns to people: the whole cell, or the people that it lists. */
export function assignPeople(
  cell: unknown,
  assigned: ReadonlyMap<string, string>,
  record: (text: string, person: string) => void,
): unknown {
  if (cell === '' || cell === undefined || cell === null) return cell;
  const text = String(cell).trim();
  // The name in a result can be in reading order.
  const personFor = (part: string) =>
    assigned.get(normalizeWord(part)) ?? assigned.get(normalizeWord(inReadingOrder(commonName(part))));
  const isWhole = personFor(text) !== undefined;
  const parts = isWhole ? [text] : peopleIn(text);
  // An error says that these are too many.
  if (parts.length > maxPeople) return cell;
  if (parts.every((part) => [undefined, created].includes(personFor(part)))) return cell;
  const people = parts.map((part) => {
    const person = personFor(part);
    if (person === undefined || person === created) return part;
    record(part, person);
    return person;
  });
  return people.filter((person) => person !== '').join('; ');
}

/**
 * The people in a text that matches nobody as a whole. A comma is between two people only if both have a first and a last
 * name: `Lovelace, Ada` is one person.
 */
export function separatePeople(text: string): string[] {
  const parts = peopleIn(text);
  const isOneName = !/[;/&\n]/.test(text) && isLastAndFirst(text);
  return isOneName || parts.length === 0 ? [text.trim()] : parts;
}

/** The name and the email address in `Lovelace, Ada`, `Ada Lovelace <ada@example.com>` or `ada@example.com`. */
export function placeholderOf(whole: string): { name: string; email?: string } {
  const text = withoutNote(commonName(whole)).name;
  const [, email] =
    /<([^<>@\s]+@[^<>@\s]+)>/.exec(text) ?? /^([^<>@\s]+@[^<>@.\s]+(?:\.[^<>@.\s]+)+)$/.exec(text) ?? [];
  // An address, a login and a share are no part of a name; other brackets are.
  const bare = text.trim().replace(/(?:<[^<>]*>|\([^\s()]+\)|\[\d{1,3} ?%\])$/, '');
  const name = inReadingOrder(bare.trim() || email || text);
  return { name, ...(email && { email }) };
}

/** What tools write after a name about somebody's state. */
const nameNotes = new Map<string, Record<string, string>>([
  ['(terminated)', { status: 'inactive' }],
  ['(on leave)', { status: 'active' }],
  ['[c]', { kind: 'external' }],
]);

/** The name in `Grace Hopper (Terminated)`, and what the note after it says. Other brackets stay in the name. */
function withoutNote(text: string): { name: string; note?: string; says?: Record<string, string> } {
  const [note = ''] = /[([][^()[\]]{1,20}[)\]]$/.exec(text) ?? [];
  const says = nameNotes.get(fold(note));
  return says ? { name: text.slice(0, -note.length).trim(), note, says } : { name: text };
}

/** `(Terminated)` after the name of somebody says that they are inactive, unless a column of the row says something else. */
export function readNote(
  { values, warnings }: { values: Record<string, unknown>; warnings: FieldError[] },
  field: string,
): void {
  const { name, note, says = {} } = typeof values[field] === 'string' ? withoutNote(values[field]) : {};
  if (note === undefined) return;
  values[field] = name;
  for (const [target, value] of Object.entries(says)) {
    if (values[target] != null) continue;
    values[target] = value;
    warnings.push(
      fieldError(target, 'completed', `“${note}” after the name says that this is \`${value}\`.`),
    );
  }
}

/** Longer texts are no names, and looking at each of their words takes long. */
export const hasAllWords = (name: string, joined: string) =>
  name.length <= 500 &&
  joined.length <= 500 &&
  new Set(fold(joined).split(' ')).isSubsetOf(new Set(fold(name).split(' ')).add(''));

/** Texts for the same placeholder have the same key. */
export const placeholderKey = (text: string) => {
  const { name, email } = placeholderOf(text);
  return fold(email ?? name);
};
