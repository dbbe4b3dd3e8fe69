import { type RawBuilder, sql } from 'kysely';
import { wrongScores } from '../../resources/risks/rules/score-columns.ts';
import { activeStatuses } from '../../resources/risks/schema.ts';
import { firstModel, type Model } from '../../store/risk-model.ts';
import {
  allTables,
  columnSchemas,
  referencesOf,
  type TableName,
  type Tables,
  tableNames,
  tables,
} from '../../store/tables.ts';

/** A rule that the data must satisfy. `broken` selects a `label` for each row that does not. */
export type Rule = { area: string; rule: string; broken: RawBuilder<unknown> };

const idOf = (table: string) => (table === 'people' ? 'user_id' : 'id');

/** How a row is named: by its key, its id, or the ids of what it connects. */
export function labelOf(table: keyof Tables): RawBuilder<string> {
  const columns = columnSchemas(table);
  const names = ['key', idOf(table)].find((name) => name in columns) ?? Object.keys(referencesOf(table));
  return sql.join(
    [names].flat().map((name) => sql.ref(`child.${name}`)),
    sql` || ' ' || `,
  );
}

/** A rule of each row of a table, which is called `child`. */
export const rowRule = (
  area: string,
  table: keyof Tables,
  rule: string,
  isBroken: RawBuilder<unknown>,
): Rule => ({
  area,
  rule,
  broken: sql`select ${labelOf(table)} as label from ${sql.table(table)} as child where ${isBroken}`,
});

/** Each with the columns that it is about. */
export const referenceRules = allTables.flatMap((table) =>
  Object.entries(referencesOf(table)).map(([column, target]) => {
    const [child, parent] = [sql.ref(`child.${column}`), sql.ref(`parent.${idOf(target)}`)];
    const isBroken = sql`${child} is not null
      and not exists (select 1 from ${sql.table(target)} as parent where ${parent} = ${child})`;
    const rule = rowRule('references', table, `${table}.${column} names one of ${target}`, isBroken);
    return { ...rule, table, columns: [column] };
  }),
);

/** A comment is about a resource of its project. */
const commentRules = (
  [
    ['project', 'projects', sql`parent.id`],
    ['risk', 'risks', sql`parent.project_id`],
    ['issue', 'issues', sql`parent.project_id`],
    ['task', 'tasks', sql`parent.project_id`],
  ] as const
).map(([type, table, project_id]) => ({
  area: 'references',
  rule: `comments on a ${type} name one of ${table} in their project`,
  broken: sql`
    select child.id as label from comments as child
    left join ${sql.table(table)} as parent on parent.id = child.subject_id and ${project_id} = child.project_id
    where child.subject_type = ${type} and parent.id is null`,
}));

const itemTables = ['risks', 'issues', 'tasks'] as const satisfies TableName[];
const isItemTable = (table: string) => itemTables.some((name) => name === table);

/** An item that another item names is in the same project. */
const projectRules = itemTables.flatMap((table) =>
  Object.entries(tables[table].references ?? {})
    .filter(([, target]) => isItemTable(target))
    .map(([column, target]) =>
      rowRule(
        'references',
        table,
        `${table}.${column} is in the same project`,
        sql`exists (select 1 from ${sql.table(target)} as parent
          where parent.id = ${sql.ref(`child.${column}`)} and parent.project_id <> child.project_id)`,
      ),
    ),
);

const isActive = sql`status in (${sql.join(activeStatuses.map((status) => sql.lit(status)))})`;
const isOpen = sql`status in ('open', 'in_progress', 'blocked')`;
const counterRules = [
  ['active_risks', 'risks', isActive],
  ['unassessed_risks', 'risks', sql`${isActive} and probability * impact is null`],
  ['open_issues', 'issues', isOpen],
  ['critical_issues', 'issues', sql`${isOpen} and severity = 'critical'`],
] as const;

const keyRules = itemTables.map((table) => {
  const letter = sql.lit(table[0]?.toUpperCase() ?? '');
  const number = sql`substr(child.key, length(projects.key) + 3)`;
  return {
    area: 'keys',
    rule: `the key of each of ${table} is its project's key and a number that was given out`,
    broken: sql`
      select child.key as label from ${sql.table(table)} as child
      join projects on projects.id = child.project_id
      where case
        when substr(child.key, 1, length(projects.key) + 2) <> projects.key || '-' || ${letter} then 1
        when ${number} = '' or ltrim(${number}, '0123456789') <> '' then 1
        when cast(${number} as bigint) not between 1 and ${sql.ref(`projects.${table}_created`)} then 1
        else 0 end = 1`,
  };
});

/** Columns that follow from others. The database generates those of issues and tasks. */
const scoreRules = (models: readonly Model[]) =>
  (['risks', 'past_risks'] as const).flatMap((table) =>
    Object.entries(wrongScores(table, models)).map(([column, isWrong]) =>
      rowRule('ranks', table, `${table}.${column} follows from the other columns`, isWrong),
    ),
  );

const isOffScale = ({ probability, impact }: Model = firstModel) =>
  sql`(probability > ${probability.length} or residual_probability > ${probability.length}
    or impact > ${impact.length} or residual_impact > ${impact.length})`;

/** Rows below no root are in a cycle, or below one. `union` ends the recursion in any case. */
const cycleRules = (
  [
    ['people', 'user_id', 'manager_user_id'],
    ['groups', 'id', 'parent_id'],
  ] as const
).map(([table, id, parent]) => ({
  area: 'cycles',
  rule: `${table}.${parent} has no cycle`,
  broken: sql`
    select ${sql.ref(id)} as label from ${sql.table(table)} where ${sql.ref(id)} not in (
      with recursive below(id) as (
        select ${sql.ref(id)} from ${sql.table(table)} where ${sql.ref(parent)} is null
        union
        select ${sql.ref(`child.${id}`)} from ${sql.table(table)} as child
        join below on ${sql.ref(`child.${parent}`)} = below.id)
      select below.id from below)`,
}));

/** The rules, given all versions of the risk model. */
export const rulesFor = (models: readonly Model[]): readonly Rule[] => [
  ...referenceRules,
  ...commentRules,
  ...projectRules,
  {
    area: 'references',
    rule: 'a group is at most 10 levels deep',
    broken: sql`
      with recursive below(id, depth) as (
        select id, 1 from groups where parent_id is null
        union select groups.id, below.depth + 1 from groups join below on groups.parent_id = below.id
        where below.depth <= 10)
      select id as label from below where depth > 10`,
  },
  ...counterRules.map(([counter, table, isCounted]) => ({
    area: 'counters',
    rule: `projects.${counter} is the number of such ${table}`,
    broken: sql`
      select projects.key as label from projects left join (
        select project_id, sum(case when ${isCounted} then 1 else 0 end) as counted
        from ${sql.table(table)} group by project_id) as found on found.project_id = projects.id
      where ${sql.ref(`projects.${counter}`)} <> coalesce(found.counted, 0)`,
  })),
  ...keyRules,
  rowRule(
    'ranks',
    'risks',
    'the ratings of risks are on the scales of the risk model',
    isOffScale(models.at(-1)),
  ),
  ...scoreRules(models),
  ...cycleRules,
  {
    area: 'history',
    rule: 'every earlier version of a risk is stored',
    // But for those that ended before the start of the history: see `jobs/history-retention.ts`.
    broken: sql`
      select risks.key as label from risks left join (
        select id, count(*) as versions, min(version) as earliest, min(updated_at) as began, max(version) as latest
        from past_risks group by id
      ) as past on past.id = risks.id
      where coalesce(past.latest, risks.version - 1) <> risks.version - 1
        or coalesce(past.versions, 0) <> risks.version - coalesce(past.earliest, risks.version)
        or (coalesce(past.earliest, risks.version) > 1 and coalesce(past.began, risks.updated_at)
          >= coalesce((select value from settings where name = 'history_start'), ''))`,
  },
  rowRule(
    'events',
    'events',
    'the sequence number of an event is at most the last one',
    sql`sequence > (select version from data_versions where table_name = 'events')`,
  ),
  {
    area: 'events',
    rule: 'no two events have the same id',
    broken: sql`select id as label from events group by id having count(*) > 1`,
  },
  {
    area: 'versions',
    rule: 'every table has a version',
    broken: sql`
      select name as label from (${sql.join(
        tableNames.map((name) => sql`select ${sql.lit(name)} as name`),
        sql` union all `,
      )}) as names
      where not exists (select 1 from data_versions where table_name = names.name)`,
  },
];
