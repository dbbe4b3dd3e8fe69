import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { type FieldError, invalidParameter, Problem } from '../core/errors.ts';
import { Strict } from '../core/schemas.ts';
import { joinWords, nearest, shortened } from '../core/text.ts';
import { parseQueryString } from '../http/request/query-string.ts';
import { readQuery } from '../http/request/validation.ts';
import type { MappedList } from '../resources/mappings/schema.ts';
import type { Tables } from '../store/tables.ts';
import type { Importable } from './importable.ts';
import { ImportQuery } from './schema.ts';

/** The parameters of an import that a mapping can have: those about the file, not about what happens to its rows. */
const MappingQuery = Strict(
  Type.Pick(ImportQuery, [
    'map',
    'map_values',
    'scales',
    'set',
    'unknown_columns',
    'unknown_people',
    'preset',
    'date_order',
    'sheet',
    'header_row',
  ]).properties,
);

/** Reads the parameters of a mapping. */
export function readMapping(query: string): { values: Partial<ImportQuery>; errors: FieldError[] } {
  try {
    const read = readQuery(MappingQuery, parseQueryString(query) as Record<string, string[]>);
    // The defaults of parameters that the mapping does not have must not override those of the request.
    const names = Object.keys(parseQueryString(query)).map((name) => name.replace(/\[\]$/, ''));
    const given = Object.entries(read).filter(([name]) => names.includes(name));
    return { values: Object.fromEntries(given), errors: [] };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { values: {}, errors: error.errors ?? [{ code: error.code, detail: error.message }] };
  }
}

/** Adds the parameters of the mapping that a request names. Its own parameters come first. */
export async function withMapping<Query extends Partial<ImportQuery>>(
  db: Kysely<Tables>,
  what: Importable['what'],
  query: Query,
  /** The parameters that the request has itself, without defaults. */
  given: readonly string[],
): Promise<Query> {
  const { mapping: name } = query;
  if (name === undefined) return query;
  const list = what === 'person' ? 'personnel' : (`${what}s` as MappedList);
  const found = await db
    .selectFrom('mappings')
    .select(['query', 'list'])
    .where('name', '=', name)
    .executeTakeFirst();
  if (found?.list !== list) throw await noSuchMapping(db, name, list, found?.list);
  const { values } = readMapping(found.query);
  const own = Object.fromEntries(Object.entries(query).filter(([name]) => given.includes(name)));
  const both = (field: 'map' | 'map_values' | 'scales' | 'set') => [
    ...(values[field] ?? []),
    ...(query[field] ?? []),
  ];
  return {
    ...query,
    ...values,
    ...own,
    map: both('map'),
    map_values: both('map_values'),
    scales: both('scales'),
    set: both('set'),
  };
}

async function noSuchMapping(
  db: Kysely<Tables>,
  name: string,
  list: MappedList,
  other: MappedList | undefined,
): Promise<Problem> {
  const rows = await db
    .selectFrom('mappings')
    .select('name')
    .where('list', '=', list)
    .orderBy('name')
    .execute();
  const names = rows.map((row) => row.name);
  const near = nearest(name, names);
  const why = other ? `is for ${other}, not for ${list}` : 'does not exist';
  const hint = near
    ? `Did you mean “${near}”?`
    : names.length > 0
      ? `Mappings for ${list} are ${joinWords(names.slice(0, 20))}.`
      : `There are none for ${list}. Create one with \`POST /v1/mappings\`.`;
  return invalidParameter('mapping', `The mapping “${shortened(name)}” ${why}. ${hint}`);
}
