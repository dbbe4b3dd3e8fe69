import { type Kysely, type RawBuilder, sql } from 'kysely';
import { idPattern } from '../../core/ids.ts';
import { fold, lowerAscii } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import type { ReferenceKind } from '../importable.ts';
import { inReadingOrder } from '../recognize/evidence.ts';
import { findMoved, isIdOf } from './moved.ts';
import { commonName, peopleIn } from './people.ts';

/** Finds the resources that texts refer to. People are also found in other notations of their names, and in lists. */
export async function findMatches(
  db: Kysely<Tables>,
  kind: ReferenceKind,
  texts: ReadonlySet<string>,
  scope: LookupScope,
): Promise<Matches> {
  if (kind !== 'person') return matchNames(db, kind, texts, scope);
  const matches = await matchNames(db, kind, texts, scope);
  const unmatched = [...texts].filter((text) => matches.get(text)?.length === 0);
  const parts = new Set(unmatched.flatMap(peopleIn).filter((part) => !matches.has(part)));
  for (const [part, found] of await matchNames(db, kind, parts, scope)) matches.set(part, found);
  return matches;
}

/** Finds resources by the whole text; if there are none, in other notations of names. */
async function matchNames(
  db: Kysely<Tables>,
  kind: ReferenceKind,
  texts: Iterable<string>,
  scope: LookupScope,
): Promise<Matches> {
  const found = await matchAll(db, kind, texts, scope);
  const others = (text: string) =>
    kind === 'person' ? alternativeNames(text) : [{ name: commonName(text) }];
  const alternatives = new Map(
    [...found].flatMap(([text, matches]) => (matches.length === 0 ? [[text, others(text)] as const] : [])),
  );
  const all = new Set([...alternatives.values()].flatMap((names) => names.map(({ name }) => name)));
  if (all.size === 0) return found;
  const matches = await matchAll(db, kind, all, scope);
  for (const [text, names] of alternatives) {
    const alternative = names.find(({ name }) => matches.get(name)?.length);
    if (!alternative) continue;
    const { name, unused, stated } = alternative;
    found.set(
      text,
      (matches.get(name) ?? []).map((match) => ({
        ...match,
        ...(unused && { unused }),
        ...(stated && { stated }),
      })),
    );
  }
  return found;
}

/** The person in `Lovelace, Ada`, `Ada Lovelace <ada@example.com>` and `Ada Lovelace [50%]`, and the text that is left. */
function alternativeNames(whole: string): { name: string; unused?: string; stated?: string }[] {
  const text = commonName(whole);
  const [, email] = /<([^<>@\s]+@[^<>@\s]+)>/.exec(text) ?? [];
  const [, bare = '', unused = ''] = /^([^<([]*)(.*)$/s.exec(text) ?? [];
  const names = [
    { name: text },
    { name: email ?? '', stated: bare.trim() },
    { name: inReadingOrder(text) },
    { name: bare.trim(), unused },
    { name: inReadingOrder(bare.trim()), unused },
  ];
  return names.filter(({ name }) => name !== '' && name !== whole);
}

/**
 * `detail` tells people with the same name apart. `unused` is the part of the text that did not help to find the match, and
 * `stated` the name in a text whose email address found it.
 */
export type Match = { id: string; label: string; detail?: string | null; unused?: string; stated?: string };

/** Whether one of two names has all words of the other, as `Ada` and `Lovelace, Ada` have. */
export function isSameName(one: string, other: string): boolean {
  const [first, second] = [one, other].map((name) => new Set(fold(name).match(/[\p{L}\p{M}\p{N}]+/gu)));
  return !first || !second || first.isSubsetOf(second) || second.isSubsetOf(first);
}

/** The matches of each text: none, one or several. */
export type Matches = Map<string, Match[]>;

/** Risks and issues are found in one project; people and groups by private fields only with the scope `personnel.read`. */
type LookupScope = { project_id: string | undefined; seesPeople: boolean };

/**
 * Finds the resources that texts refer to: by id, then by a unique field (external id, email, key), then by name. A text
 * with a match is not passed to the next matcher.
 */
async function matchAll(
  db: Kysely<Tables>,
  kind: ReferenceKind,
  texts: Iterable<string>,
  scope: LookupScope,
): Promise<Matches> {
  const matches: Matches = new Map();
  const moved = await findMoved(db, [...texts].filter(isIdOf(kind)));
  let unmatchedTexts = [...new Set(texts)];
  for (const matcher of matchers[kind](scope)) {
    const candidates = unmatchedTexts.filter((text) => matcher.accepts?.(text) ?? true);
    if (candidates.length === 0) continue;
    const compared = (text: string) => (matcher.compared ?? String)(text);
    const known = candidates.flatMap((text) => [text, moved.get(text) ?? text]);
    const found = Map.groupBy(
      await matcher.find(db, [...new Set(known)].map(compared)),
      ({ value }) => value,
    );
    for (const text of candidates) {
      const named = found.get(compared(text)) ?? found.get(compared(moved.get(text) ?? text));
      if (named) matches.set(text, named);
    }
    unmatchedTexts = unmatchedTexts.filter((text) => !matches.has(text));
  }
  for (const text of unmatchedTexts) matches.set(text, []);
  return matches;
}

type Found = Match & { value: string };

type Matcher = {
  accepts?(text: string): boolean;
  compared?(text: string): string;
  find(db: Kysely<Tables>, values: string[]): Promise<Found[]>;
};

const isId = (kind: ReferenceKind) => {
  const pattern = new RegExp(idPattern(kind));
  return (text: string) => pattern.test(text);
};

/** Finds the rows of a table by a column. Risks and issues are those of one project. */
const inTable =
  (table: 'people' | 'groups' | 'risks' | 'issues', column: RawBuilder<string>, project_id?: string) =>
  async (db: Kysely<Tables>, values: string[]) => {
    const id = sql.ref(table === 'people' ? 'user_id' : 'id');
    const isOfProject = table === 'risks' || table === 'issues';
    const { rows } = await sql<Found>`
      select ${id} as id, ${sql.ref(isOfProject ? 'key' : 'name')} as label, ${column} as value
      from ${sql.table(table)} where ${inJsonArray(column, values)}
      ${isOfProject ? sql`and project_id = ${project_id ?? ''}` : sql``}`.execute(db);
    return rows;
  };

const itemMatchers =
  (table: 'risks' | 'issues') =>
  ({ project_id }: LookupScope): Matcher[] =>
    ['id', 'key', 'external_id'].map((column) => ({ find: inTable(table, sql.ref(column), project_id) }));

const matchers: Record<ReferenceKind, (scope: LookupScope) => Matcher[]> = {
  person: ({ seesPeople }) => [
    { accepts: isId('person'), find: inTable('people', sql.ref('user_id')) },
    { accepts: () => seesPeople, find: inTable('people', sql.ref('external_id')) },
    {
      accepts: (text) => seesPeople && text.includes('@'),
      compared: lowerAscii,
      find: inTable('people', sql`lower(email)`),
    },
    { accepts: (text) => !isId('person')(text), compared: fold, find: findPeopleByName },
  ],
  group: ({ seesPeople }) => [
    { accepts: isId('group'), find: inTable('groups', sql.ref('id')) },
    { accepts: () => seesPeople, find: inTable('groups', sql.ref('external_id')) },
    { compared: fold, find: inTable('groups', sql.ref('name_folded')) },
  ],
  risk: itemMatchers('risks'),
  issue: itemMatchers('issues'),
};

/** The roster key starts with the folded name, so its index finds people by name. */
const findPeopleNamed = statement<Match>((db) =>
  db
    .selectFrom('people')
    .select(['user_id as id', 'name as label', sql<string | null>`coalesce(email, department)`.as('detail')])
    .where('roster_key', '>', param<string>('from'))
    .where('roster_key', '<', param<string>('to'))
    .limit(10),
);

async function findPeopleByName(db: Kysely<Tables>, names: string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const value of new Set(names)) {
    const { rows } = await findPeopleNamed(db, { from: `${value}\t`, to: `${value}\n` });
    found.push(...rows.map((match) => ({ ...match, value })));
  }
  return found;
}
