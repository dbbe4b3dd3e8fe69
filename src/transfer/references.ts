import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FieldError, fieldError } from '../core/errors.ts';
import { idPattern } from '../core/ids.ts';
import { fold, joinWords, lowerAscii, shortened } from '../core/text.ts';
import { inJsonArray } from '../database/sql/functions.ts';
import { param, statement } from '../database/sql/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Importable, ReferenceKind } from './importable.ts';
import type { ParsedRow, Reference } from './parse-rows.ts';
import { uninverted } from './recognize/evidence.ts';

/** A row whose references are replaced by ids in `values`, or reported in `errors`. */
export type Resolved = ParsedRow & {
  /** The folded names, ids or emails of rows in the same file that must be imported first. */
  waitsFor?: string[];
};

/** The other rows of the file. */
type OtherRows = {
  /** Whether a row with this name, id or email is not imported yet. */
  isPending(text: string): boolean;
  /** Created ids by the id in the file, which can be an export of another Muster service. */
  newIds: ReadonlyMap<string, string>;
};

/** Resolves the references of all rows together. Does not modify the rows, because a transaction can be retried. */
export async function resolveReferences(
  db: Kysely<Tables>,
  importable: Importable,
  rows: readonly ParsedRow[],
  otherRows: OtherRows,
  seesPeople: boolean,
): Promise<Resolved[]> {
  const scope = { project_id: importable.project?.id, seesPeople };
  const texts = new Map<ReferenceKind, Set<string>>();
  for (const { references } of rows) {
    for (const reference of references) {
      for (const { kind } of reference.targets) {
        const ofKind = texts.get(kind) ?? new Set();
        for (const text of reference.texts) ofKind.add(text);
        texts.set(kind, ofKind);
      }
    }
  }
  const matches = new Map<ReferenceKind, Matches>();
  for (const [kind, ofKind] of texts) {
    const found = await matchAll(db, kind, ofKind, scope);
    if (kind === 'person') await matchAlternatives(db, found, scope);
    matches.set(kind, found);
    if (kind !== importable.what) continue;
    for (const text of ofKind) {
      const id = otherRows.newIds.get(text);
      if (id !== undefined) found.set(text, [{ id, label: '' }]);
    }
  }
  return rows.map((row) => resolve(row, importable, matches, otherRows, seesPeople));
}

/** Looks up unmatched people in the other notations of names. */
async function matchAlternatives(db: Kysely<Tables>, found: Matches, scope: LookupScope): Promise<void> {
  const alternatives = new Map(
    [...found].flatMap(([text, matches]) =>
      matches.length === 0 ? [[text, alternativeNames(text)] as const] : [],
    ),
  );
  const all = new Set([...alternatives.values()].flat());
  if (all.size === 0) return;
  const matches = await matchAll(db, 'person', all, scope);
  for (const [text, names] of alternatives) {
    const name = names.find((name) => matches.get(name)?.length);
    if (name !== undefined) found.set(text, matches.get(name) ?? []);
  }
}

/** The person in `Lovelace, Ada`, `Ada Lovelace <ada@example.com>` and `Ada Lovelace [50%]`; of several people, the first. */
function alternativeNames(text: string): string[] {
  const [, email] = /<([^<>\s]+@[^<>\s]+)>/.exec(text) ?? [];
  const bare = text.replace(/[<([].*$/s, '').trim();
  const [first = ''] = text.split(/[;,/&\n]/, 1);
  const names = [email, uninverted(text), bare, uninverted(bare), first.replace(/[<([].*$/s, '').trim()];
  return [...new Set(names)].filter((name) => name !== undefined && name !== '' && name !== text) as string[];
}

function resolve(
  row: ParsedRow,
  { what }: Importable,
  matches: Map<ReferenceKind, Matches>,
  otherRows: OtherRows,
  seesPeople: boolean,
): Resolved {
  if (row.references.length === 0) return row;
  const resolved: Resolved = { ...row, values: { ...row.values }, errors: [...row.errors] };
  const { values, errors } = resolved;
  const labels = new Map<string, string>();

  /** The only match of a text. Otherwise adds an error, or waits for a pending row. */
  const findOnly = ({ field, targets }: Reference, text: string, isRequired: boolean) => {
    const found = targets.flatMap(({ field, kind }) =>
      (matches.get(kind)?.get(text) ?? []).map((match) => ({ ...match, field, kind })),
    );
    const [only] = found;
    const isOwnKind = targets.some(({ kind }) => kind === what);
    if (isOwnKind && (!only || isByName(only, text)) && otherRows.isPending(text))
      resolved.waitsFor = [...(resolved.waitsFor ?? []), fold(text)];
    else if (only && found.length === 1) return only;
    else if (only) errors.push(ambiguous(field, text, found, seesPeople));
    else if (isRequired) errors.push(unmatched(field, text, targets, seesPeople));
    return undefined;
  };

  const byId = row.references.filter(({ isName }) => !isName);
  const byName = row.references.filter(({ isName }) => isName);
  for (const reference of byId) {
    const { field, texts, isList } = reference;
    const hasName = byName.some(
      ({ targets, texts }) => texts.length > 0 && targets.some((target) => target.field === field),
    );
    const found = texts.map((text) => findOnly(reference, text, !hasName));
    values[field] = isList
      ? [...new Set(found.map((match) => match?.id).filter((id) => id))]
      : (found[0]?.id ?? null);
    if (found[0]) labels.set(field, found[0].label);
  }
  for (const reference of byName) {
    const [name] = reference.texts;
    const byIdTarget = reference.targets.find(({ field }) => labels.has(field));
    if (name === undefined) {
      for (const { field } of reference.targets) values[field] ??= null;
    } else if (byIdTarget) {
      const label = labels.get(byIdTarget.field) ?? '';
      if (fold(label) !== fold(name))
        errors.push(contradiction(reference.field, byIdTarget.field, label, name));
    } else {
      const found = findOnly(reference, name, true);
      for (const { field } of reference.targets) values[field] = field === found?.field ? found.id : null;
    }
  }
  return resolved;
}

/** A name, unlike an id or email, can also belong to a row that is still pending. */
const isByName = (match: Match | undefined, text: string) =>
  match !== undefined && fold(match.label) === fold(text);

const contradiction = (field: string, idField: string, label: string, name: string): FieldError =>
  fieldError(
    field,
    'contradiction',
    `\`${idField}\` is ${label}, but this is “${shortened(name)}”. Change \`${idField}\`, or clear it to use the name.`,
  );

/** `detail` tells people with the same name apart. */
type Match = { id: string; label: string; detail?: string | null };

/** The matches of each text: none, one or several. */
type Matches = Map<string, Match[]>;

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
  let unmatchedTexts = [...new Set(texts)];
  for (const matcher of matchers[kind](scope)) {
    const candidates = unmatchedTexts.filter((text) => matcher.accepts?.(text) ?? true);
    if (candidates.length === 0) continue;
    const found = Map.groupBy(
      await matcher.find(db, candidates.map(matcher.compared ?? String)),
      ({ value }) => value,
    );
    for (const text of candidates) {
      const named = found.get((matcher.compared ?? String)(text));
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

const inPeople = (column: RawBuilder<string>) => (db: Kysely<Tables>, values: string[]) =>
  selectRows(
    db,
    sql`select user_id as id, name as label, ${column} as value from people where ${inJsonArray(column, values)}`,
  );

const inGroups = (column: string) => (db: Kysely<Tables>, values: string[]) => {
  const named = sql.ref<string>(column);
  return selectRows(
    db,
    sql`select id, name as label, ${named} as value from ${sql.table('groups')} where ${inJsonArray(named, values)}`,
  );
};

const inProject =
  (table: 'risks' | 'issues', column: string, project_id = '') =>
  (db: Kysely<Tables>, values: string[]) => {
    const named = sql.ref<string>(column);
    return selectRows(
      db,
      sql`select id, key as label, ${named} as value from ${sql.table(table)}
        where ${inJsonArray(named, values)} and project_id = ${project_id}`,
    );
  };

const selectRows = async (db: Kysely<Tables>, query: RawBuilder<unknown>) =>
  (await query.execute(db)).rows as Found[];

const matchers: Record<ReferenceKind, (scope: LookupScope) => Matcher[]> = {
  person: ({ seesPeople }) => [
    { accepts: isId('person'), find: inPeople(sql.ref('user_id')) },
    { accepts: () => seesPeople, find: inPeople(sql.ref('external_id')) },
    {
      accepts: (text) => seesPeople && text.includes('@'),
      compared: lowerAscii,
      find: inPeople(sql`lower(email)`),
    },
    { accepts: (text) => !isId('person')(text), compared: fold, find: findPeopleByName },
  ],
  group: ({ seesPeople }) => [
    { accepts: isId('group'), find: inGroups('id') },
    { accepts: () => seesPeople, find: inGroups('external_id') },
    { compared: fold, find: inGroups('name_folded') },
  ],
  risk: ({ project_id }) =>
    ['id', 'key', 'external_id'].map((column) => ({ find: inProject('risks', column, project_id) })),
  issue: ({ project_id }) =>
    ['id', 'key', 'external_id'].map((column) => ({ find: inProject('issues', column, project_id) })),
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

/** Keys that may not read personnel do not see email addresses, external IDs and departments of people and groups. */
const lookupHints = (seesPeople: boolean): Record<ReferenceKind, string> => ({
  person: seesPeople ? 'name, email address, external ID or user ID' : 'name or user ID',
  group: seesPeople ? 'name, external ID or ID' : 'name or ID',
  risk: 'ID, key or external ID, in this project',
  issue: 'ID, key or external ID, in this project',
});

function unmatched(field: string, text: string, targets: Reference['targets'], seesPeople: boolean) {
  const kinds = targets.map(({ kind }) => kind);
  const hints = kinds.map((kind) => `the ${kind}’s ${lookupHints(seesPeople)[kind]}`);
  const detail = `No ${kinds.join(' or ')} matches “${shortened(text)}”. Use ${hints.join('; or ')}.`;
  return fieldError(field, 'unknown_reference', detail);
}

function ambiguous(field: string, text: string, matches: readonly Match[], seesPeople: boolean) {
  const found = matches.map(({ id, label, detail }) =>
    seesPeople && detail ? `${label}, ${detail} (${id})` : `${label} (${id})`,
  );
  const detail =
    `“${shortened(text)}” matches several: ${joinWords(found)}. ` +
    `Use the ${seesPeople ? 'email address, external ID or ID' : 'ID'} of the right one.`;
  return fieldError(field, 'ambiguous_reference', detail);
}
