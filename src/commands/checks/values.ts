import { sql } from 'kysely';
import { systemClock } from '../../core/clock.ts';
import { jsonTexts } from '../../database/sql/functions.ts';
import type { StoredTable } from '../../database/tables.ts';
import { isTemporary, type Tables, tableNames, tables } from '../../store/tables.ts';
import { labelOf, type Rule, referenceRules, rowRule } from './rules.ts';

/** Rules about values that no schema of a column tells. */

/** Besides primary keys. A test compares them with the indexes. */
const uniqueColumns: Partial<Record<keyof Tables, readonly string[]>> = {
  people: ['external_id', 'lower(email)'],
  groups: ['external_id', 'name_folded'],
  projects: ['key', 'external_id'],
  risks: ['key', 'external_id, project_id'],
  issues: ['key', 'external_id, project_id'],
  tasks: ['key', 'external_id, project_id'],
  categories: ['name_folded'],
  views: ['list, name'],
  mappings: ['name'],
  keys: ['hash', 'previous_hash'],
  access: ['user_id'],
  passkeys: ['credential_id'],
  identities: ['user_id'],
  risk_models: ['id'],
};

export const uniqueRules = Object.entries(uniqueColumns).flatMap(([name, all]) =>
  all.map((columns) => {
    const table = name as keyof Tables;
    return {
      area: 'unique',
      rule: `no two of ${table} have the same ${columns.replace(', ', ' and ')}`,
      // A null is equal to nothing.
      broken: sql`
        select min(${labelOf(table)}) as label from ${sql.table(table)} as child
        where (${sql.raw(columns)}) = (${sql.raw(columns)}) group by ${sql.raw(columns)} having count(*) > 1`,
      table,
      columns: columns.match(/\w+\b(?!\()/g) ?? [],
    };
  }),
);

/** The names of resources in the log stay when they are deleted, so those columns have no foreign keys. */
const isInLog = (column: string) => /^(author_)?key_id$|^webhook_id$/.test(column);

/** What a restore rejects. A database of an older version does not have all tables and columns. */
export const restoreRules = (stored: readonly StoredTable[]): Rule[] =>
  [...referenceRules, ...uniqueRules].filter(({ table, columns }) => {
    const names = stored.find((found) => found.table === table)?.columns.map(({ name }) => name) ?? [];
    return !isTemporary(table) && columns.every((name) => names.includes(name) && !isInLog(name));
  });

/** A clock may have been ahead by a day, which instances repair. */
function timeRules(): Rule[] {
  const tomorrow = new Date(Date.parse(systemClock().now) + 86_400_000);
  const ofRows = tableNames.flatMap((table) => {
    const { columns } = tables[table];
    const time = ['updated_at', 'at'].find((name) => name in columns);
    if (!time) return [];
    const isPast = sql`${sql.ref(time)} < ${sql.ref('created_at' in columns ? 'created_at' : time)}`;
    const isBroken = sql`${isPast} or ${sql.ref(time)} > ${sql.lit(tomorrow.toISOString())}`;
    return [
      rowRule('times', table, `no change of ${table} is before its creation or in the future`, isBroken),
    ];
  });
  const version = {
    area: 'versions',
    rule: 'the version of a table is not of the future, and no event was deleted that was not written',
    broken: sql`
      select table_name as label from data_versions
      where version not between 0 and ${sql.lit(tomorrow.getTime() * 1000)}
        or (table_name = 'deleted_events' and version > ${lastEvent})`,
  };
  return [...ofRows, version];
}

const lastEvent = sql`(select version from data_versions where table_name = 'events')`;
const isInOrder = (first: string, last: string) =>
  [`${last} is not before ${first}`, sql.raw(`${last} < ${first}`)] as const;
const hasOneOwner = [
  'the owner is a person or a group',
  sql`owner_user_id is not null and owner_group_id is not null`,
] as const;
const fitsStatus = [
  'the fields of an acceptance and the reason of a closure fit the status',
  sql`(status = 'accepted') <> (accepted_until is not null) or (status = 'accepted') <> (acceptance_reason is not null)
    or (status <> 'accepted' and accepted_by_user_id is not null) or (status = 'closed') <> (closure_reason is not null)`,
] as const;
/** A project that was deleted stays in the limits of keys. Its end is in the history, unless that was deleted, too. */
const isLimited = [
  'the projects of its limit exist, or were deleted',
  sql`exists (
    select 1 from ${jsonTexts(sql`coalesce(project_ids, '[]')`)} as project
    where not exists (select 1 from projects where id = project.value)
      and not exists (select 1 from history where subject_id = project.value and field = 'deleted'))
    and not exists (select 1 from settings where name = 'history_start')`,
] as const;

const stateRules = (
  [
    ['people', isInOrder('start_on', 'end_on')],
    ['projects', isInOrder('start_on', 'due_on')],
    ['tasks', isInOrder('start_on', 'due_on')],
    ['issues', isInOrder('raised_on', 'due_on')],
    ['risks', isInOrder('raised_on', 'due_on')],
    ['issues', hasOneOwner],
    ['risks', hasOneOwner],
    ['risks', fitsStatus],
    ['past_risks', fitsStatus],
    ['keys', isLimited],
    ['access', isLimited],
    ['webhooks', isLimited],
    ['webhooks', ['the position is at most the last event', sql`last_sequence > ${lastEvent}`]],
    ['keys', ['a previous secret has an end', sql`(previous_hash is null) <> (previous_until is null)`]],
  ] as const
).map(([table, [rule, isBroken]]) => rowRule('values', table, `${table}: ${rule}`, isBroken));

export const valueRules = (): Rule[] => [...uniqueRules, ...timeRules(), ...stateRules];
