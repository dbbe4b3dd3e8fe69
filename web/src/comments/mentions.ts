export type Mention = { user_id: string; name: string };

/**
 * A comment as it is edited: it shows names, the API has user ids. `people` has the people whose names were picked, with
 * the text that stands for them.
 */
export type EditableText = { text: string; people: readonly Mention[] };

const escapeRegExp = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** `@Ada Eze` → `@usr_…`, for the people who were picked. */
export function toBody({ text, people }: EditableText): string {
  if (people.length === 0) return text;
  const longestFirst = people.toSorted((a, b) => b.name.length - a.name.length);
  const names = longestFirst.map(({ name }) => escapeRegExp(name)).join('|');
  const idOf = new Map(people.map(({ name, user_id }) => [name, user_id]));
  return text.replace(
    new RegExp(`@(${names})(?![\\p{L}\\p{M}\\p{N}])`, 'gu'),
    (_, name: string) => `@${idOf.get(name)}`,
  );
}

/** `@usr_…` → `@Ada Eze`. The id of someone who is no longer on the roster stays. */
export function toEditable(body: string, mentions: readonly Mention[]): EditableText {
  const people: Mention[] = [];
  for (const one of mentions) people.push(withUniqueName(one, people));
  const nameOf = new Map(people.map(({ user_id, name }) => [user_id, name]));
  const text = body.replace(/@(usr_[0-9a-v]{26})\b/g, (found, id: string) =>
    nameOf.has(id) ? `@${nameOf.get(id)}` : found,
  );
  return { text, people };
}

/** Two people can have the same name, but not the same text. */
function withUniqueName(person: Mention, others: readonly Mention[]): Mention {
  const isTaken = (name: string) =>
    others.some((other) => other.name === name && other.user_id !== person.user_id);
  let name = person.name;
  for (let count = 2; isTaken(name); count += 1) name = `${person.name} (${count})`;
  return { ...person, name };
}

/** What is typed after an `@` that the caret is behind, and where the `@` is. */
export function mentionAt(text: string, caret: number): { start: number; query: string } | undefined {
  const found = /(?:^|[\s([{"'*_>])@([\p{L}\p{M}\p{N}.'’-]*(?: [\p{L}\p{M}\p{N}.'’-]+){0,3} ?)$/u.exec(
    text.slice(Math.max(0, caret - 80), caret),
  );
  if (!found || /^\s/.test(found[1] ?? '')) return undefined;
  const query = found[1] ?? '';
  return { start: caret - query.length - 1, query };
}

/** Replaces what was typed after the `@` by the person's name. */
export function insertMention(
  { text, people }: EditableText,
  { start, caret, person }: { start: number; caret: number; person: Mention },
): { next: EditableText; caret: number } {
  const named = withUniqueName(person, people);
  const before = `${text.slice(0, start)}@${named.name} `;
  const next = {
    text: before + text.slice(caret).replace(/^ /, ''),
    people: [...people.filter(({ user_id }) => user_id !== named.user_id), named],
  };
  return { next, caret: before.length };
}
