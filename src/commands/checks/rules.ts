import { type RawBuilder, sql } from 'kysely';
import { scoreExpressions } from '../../resources/risks/rules/score-columns.ts';
import { activeStatuses } from '../../resources/risks/schema.ts';
import { tableNames } from '../../store/tables.ts';

/** A rule that the data must satisfy. `broken` selects a `label` for each row that does not. */
export type Rule = { area: string; rule: string; broken: RawBuilder<{ label: string }> };

/** Each column that refers to a row of another table. A test compares this list with the tables. */
export const references = {
  people: { manager_user_id: 'people', accountable_user_id: 'people' },
  groups: { parent_id: 'groups', lead_user_id: 'people' },
  memberships: { group_id: 'groups', user_id: 'people' },
  projects: { lead_user_id: 'people' },
  risks: {
    project_id: 'projects',
    owner_user_id: 'people',
    owner_group_id: 'groups',
    raised_by_user_id: 'people',
    accepted_by_user_id: 'people',
  },
  issues: {
    project_id: 'projects',
    owner_user_id: 'people',
    owner_group_id: 'groups',
    assignee_user_id: 'people',
    raised_by_user_id: 'people',
    risk_id: 'risks',
  },
  tasks: { project_id: 'projects', assignee_user_id: 'people', risk_id: 'risks', issue_id: 'issues' },
  comments: { project_id: 'projects', author_user_id: 'people', author_key_id: 'keys' },
  history: { actor_user_id: 'people', key_id: 'keys' },
  events: { actor_user_id: 'people', key_id: 'keys' },
  webhook_deliveries: { webhook_id: 'webhooks' },
} as const;

type Referring = keyof typeof references;

const labels: Record<string, RawBuilder<string>> = {
  people: sql`child.user_id`,
  memberships: sql`child.group_id || ' ' || child.user_id`,
  projects: sql`child.key`,
  risks: sql`child.key`,
  issues: sql`child.key`,
  tasks: sql`child.key`,
};
const labelOf = (table: string) => labels[table] ?? sql`child.id`;
const idOf = (table: string) => sql.ref(table === 'people' ? 'parent.user_id' : 'parent.id');

const referenceRules = Object.entries(references).flatMap(([table, columns]) =>
  Object.entries(columns).map(([column, target]) => ({
    area: 'references',
    rule: `${table}.${column} names one of ${target}`,
    broken: sql<{ label: string }>`
      select ${labelOf(table)} as label from ${sql.table(table)} as child
      left join ${sql.table(target)} as parent on ${idOf(target)} = ${sql.ref(`child.${column}`)}
      where ${sql.ref(`child.${column}`)} is not null and ${idOf(target)} is null`,
  })),
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
  broken: sql<{ label: string }>`
    select child.id as label from comments as child
    left join ${sql.table(table)} as parent on parent.id = child.subject_id and ${project_id} = child.project_id
    where child.subject_type = ${type} and parent.id is null`,
}));

/** A risk or issue that another item names is in the same project. */
const projectRules = (
  [
    ['issues', 'risk_id', 'risks'],
    ['tasks', 'risk_id', 'risks'],
    ['tasks', 'issue_id', 'issues'],
  ] as const satisfies [Referring, string, string][]
).map(([table, column, target]) => ({
  area: 'references',
  rule: `${table}.${column} is in the same project`,
  broken: sql<{ label: string }>`
    select child.key as label from ${sql.table(table)} as child
    join ${sql.table(target)} as parent on parent.id = ${sql.ref(`child.${column}`)}
    where parent.project_id <> child.project_id`,
}));

const counterRules = [
  ['active_risks', 'risks', sql`status in (${sql.join(activeStatuses.map((status) => sql.lit(status)))})`],
  [
    'unassessed_risks',
    'risks',
    sql`status in (${sql.join(activeStatuses.map((status) => sql.lit(status)))}) and probability * impact is null`,
  ],
  ['open_issues', 'issues', sql`status in ('open', 'in_progress', 'blocked')`],
  ['critical_issues', 'issues', sql`status in ('open', 'in_progress', 'blocked') and severity = 'critical'`],
] as const;

const keyRules = (['risks', 'issues', 'tasks'] as const).map((table) => {
  const letter = sql.lit(table[0]?.toUpperCase() ?? '');
  const number = sql`substr(child.key, length(projects.key) + 3)`;
  return {
    area: 'keys',
    rule: `the key of each of ${table} is its project's key and a number that was given out`,
    broken: sql<{ label: string }>`
      select child.key as label from ${sql.table(table)} as child
      join projects on projects.id = child.project_id
      where case
        when substr(child.key, 1, length(projects.key) + 2) <> projects.key || '-' || ${letter} then 1
        when ${number} = '' or ltrim(${number}, '0123456789') <> '' then 1
        when cast(${number} as bigint) not between 1 and ${sql.ref(`projects.${table}_created`)} then 1
        else 0 end = 1`,
  };
});

/** Columns that follow from others: the service writes those of risks, the database generates the rest. */
const issueRank = sql`
  case severity when 'critical' then '1' when 'high' then '2' when 'medium' then '3' else '4' end
  || case priority when 'urgent' then '1' when 'high' then '2' when 'normal' then '3' else '4' end
  || coalesce(due_on, '9999-99-99') || raised_on || id`;
const taskOrder = sql`coalesce(due_on, '9999-99-99') || id`;
const derived = [
  ...(['risks', 'past_risks'] as const).flatMap((table) =>
    Object.entries(scoreExpressions).map(([column, expected]) => [table, column, expected] as const),
  ),
  ['issues', 'rank_key', issueRank],
  ['tasks', 'due_key', taskOrder],
] as const;

/** Rows below no root are in a cycle, or below one. `union` ends the recursion in any case. */
const cycleRules = (
  [
    ['people', 'user_id', 'manager_user_id'],
    ['groups', 'id', 'parent_id'],
  ] as const
).map(([table, id, parent]) => ({
  area: 'cycles',
  rule: `${table}.${parent} has no cycle`,
  broken: sql<{ label: string }>`
    select ${sql.ref(id)} as label from ${sql.table(table)} where ${sql.ref(id)} not in (
      with recursive below(id) as (
        select ${sql.ref(id)} from ${sql.table(table)} where ${sql.ref(parent)} is null
        union
        select ${sql.ref(`child.${id}`)} from ${sql.table(table)} as child
        join below on ${sql.ref(`child.${parent}`)} = below.id)
      select below.id from below)`,
}));

export const rules: readonly Rule[] = [
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
    broken: sql<{ label: string }>`
      select projects.key as label from projects left join (
        select project_id, sum(case when ${isCounted} then 1 else 0 end) as counted
        from ${sql.table(table)} group by project_id) as found on found.project_id = projects.id
      where ${sql.ref(`projects.${counter}`)} <> coalesce(found.counted, 0)`,
  })),
  ...keyRules,
  ...derived.map(([table, column, expected]) => ({
    area: 'ranks',
    rule: `${table}.${column} follows from the other columns`,
    broken: sql<{ label: string }>`
      select key as label from ${sql.table(table)} where ${sql.ref(column)} is distinct from ${expected}`,
  })),
  ...cycleRules,
  {
    area: 'history',
    rule: 'every earlier version of a risk is stored',
    broken: sql`
      select risks.key as label from risks left join (
        select id, count(*) as versions, max(version) as latest from past_risks group by id
      ) as past on past.id = risks.id
      where coalesce(past.versions, 0) <> risks.version - 1 or past.latest >= risks.version`,
  },
  {
    area: 'events',
    rule: 'the sequence number of an event is at most the last one',
    broken: sql`
      select id as label from events
      where sequence > (select version from data_versions where table_name = 'events')`,
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
