import { type Kysely, type RawBuilder, sql } from 'kysely';
import { idPattern } from '../core/ids.ts';
import { fold, joinWords, shortened } from '../core/text.ts';
import { inJsonArray } from '../database/sql/functions.ts';
import { param, statement } from '../database/sql/statement.ts';
import type { Tables } from '../database/tables.ts';

/** What a field of a row may name. */
export type Kind = 'person' | 'group' | 'risk' | 'issue';

export type Match = { id: string; label: string };

/** What each of the texts names: nothing, one thing, or several. */
export type Matches = Map<string, Match[]>;

/** Where is looked: in one project for what belongs to one, and at all of a person only by who may see that. */
type LookupScope = { project_id: string | undefined; seesPeople: boolean };

/**
 * Finds what texts name: by id, then by what is unique (external id, e-mail, key), then by name. A text that one matcher
 * finds is not looked for in the next.
 */
export async function matchAll(
  db: Kysely<Tables>,
  kind: Kind,
  texts: Iterable<string>,
  scope: LookupScope,
): Promise<Matches> {
  const matches: Matches = new Map();
  let left = [...new Set(texts)];
  for (const matcher of matchers[kind](scope)) {
    const wanted = left.filter((text) => matcher.suits?.(text) ?? true);
    if (wanted.length === 0) continue;
    const found = Map.groupBy(
      await matcher.find(db, wanted.map(matcher.compared ?? String)),
      ({ value }) => value,
    );
    for (const text of wanted) {
      const named = found.get((matcher.compared ?? String)(text));
      if (named) matches.set(text, named);
    }
    left = left.filter((text) => !matches.has(text));
  }
  for (const text of left) matches.set(text, []);
  return matches;
}

type Found = Match & { value: string };

/** One matcher to find what a text names. */
type Matcher = {
  suits?(text: string): boolean;
  compared?(text: string): string;
  find(db: Kysely<Tables>, values: string[]): Promise<Found[]>;
};

const isId = (kind: Kind) => {
  const pattern = new RegExp(idPattern(kind));
  return (text: string) => pattern.test(text);
};

const lowerCase = (text: string) => text.toLowerCase();

const inPeople = (column: RawBuilder<string>) => (db: Kysely<Tables>, values: string[]) =>
  rows(
    db,
    sql`select user_id as id, name as label, ${column} as value from people where ${inJsonArray(column, values)}`,
  );

const inGroups = (column: string) => (db: Kysely<Tables>, values: string[]) => {
  const named = sql.ref<string>(column);
  return rows(
    db,
    sql`select id, name as label, ${named} as value from ${sql.table('groups')} where ${inJsonArray(named, values)}`,
  );
};

const inProject =
  (table: 'risks' | 'issues', column: string, project_id = '') =>
  (db: Kysely<Tables>, values: string[]) => {
    const named = sql.ref<string>(column);
    return rows(
      db,
      sql`select id, key as label, ${named} as value from ${sql.table(table)}
        where ${inJsonArray(named, values)} and project_id = ${project_id}`,
    );
  };

const rows = async (db: Kysely<Tables>, query: RawBuilder<unknown>) =>
  (await query.execute(db)).rows as Found[];

const matchers: Record<Kind, (scope: LookupScope) => Matcher[]> = {
  person: ({ seesPeople }) => [
    { suits: isId('person'), find: inPeople(sql.ref('user_id')) },
    { suits: () => seesPeople, find: inPeople(sql.ref('external_id')) },
    {
      suits: (text) => seesPeople && text.includes('@'),
      compared: lowerCase,
      find: inPeople(sql`lower(email)`),
    },
    { suits: (text) => !isId('person')(text), compared: fold, find: peopleCalled },
  ],
  group: () => [
    { suits: isId('group'), find: inGroups('id') },
    { find: inGroups('external_id') },
    { compared: fold, find: inGroups('name_folded') },
  ],
  risk: ({ project_id }) =>
    ['id', 'key', 'external_id'].map((column) => ({ find: inProject('risks', column, project_id) })),
  issue: ({ project_id }) =>
    ['id', 'key', 'external_id'].map((column) => ({ find: inProject('issues', column, project_id) })),
};

/** The roster is ordered by the folded name, so that those of one name stand together in its index. */
const peopleOfName = statement<Match>((db) =>
  db
    .selectFrom('people')
    .select(['user_id as id', 'name as label'])
    .where('roster_key', '>', param<string>('from') as never)
    .where('roster_key', '<', param<string>('to') as never)
    .limit(10),
);

async function peopleCalled(db: Kysely<Tables>, names: string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const value of new Set(names)) {
    const { rows } = await peopleOfName(db, { from: `${value}\t`, to: `${value}\n` });
    found.push(...rows.map((match) => ({ ...match, value })));
  }
  return found;
}

const howNamed: Record<Kind, string> = {
  person: 'by user id or name, and by external id or e-mail if the key may read personnel',
  group: 'by id, external id or name',
  risk: 'by id, key or external id, among the risks of this project',
  issue: 'by id, key or external id, among the issues of this project',
};

export const notFoundMessage = (kinds: readonly Kind[], text: string) =>
  `There is no ${kinds.join(' or ')} “${shortened(text)}”, looked for ${kinds.map((kind) => howNamed[kind]).join('; ')}.`;

export const ambiguousMessage = (text: string, matches: readonly Match[]) =>
  `“${shortened(text)}” names several: ${joinWords(matches.map(({ id, label }) => `${label} (${id})`))}. ` +
  'Use the e-mail, external id or id of the one that is meant.';
