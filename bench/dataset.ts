import { type Kysely, sql } from 'kysely';
import { scoreExpressions } from '../src/resources/risks/rules/score-columns.ts';
import { firstModel } from '../src/store/risk-model.ts';
import type { Tables } from '../src/store/tables.ts';

export type Sizes = { projects: number; people: number; risks: number; issues: number; tasks?: number };

const groups = 200;

/**
 * Generates an organization of any size inside the database. The rows are the same every time; multiplying by primes
 * spreads the values evenly. Every statement works on both engines. Risks and issues are inserted project by project, so
 * that their keys are in order: appending to an index is many times faster than inserting in random order.
 */
export async function fillDataset(db: Kysely<Tables>, sizes: Sizes): Promise<void> {
  const { projects, people, risks, issues, tasks = 0 } = sizes;
  const risk = distribute(risks, projects);
  const issue = distribute(issues, projects);
  const task = distribute(tasks, projects);
  // One risk in twenty is linked to an issue, at every size.
  const issuesPerLinked = Math.max(1, Math.round((20 * issues) / Math.max(1, risks)));
  await fill(
    db,
    'people',
    people,
    sql`${id('usr', sql`i`)} as user_id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at,
      ${name} as name, ${email} as email, 'Engineer ' || (i % 40) as title, 'Department ' || (i % 60) as department,
      'Site ' || (i % 12) as location, 'human' as kind, '["planning","first aid"]' as skills,
      case when i % 50 = 0 then 'inactive' else 'active' end as status,
      '{}' as attributes, lower(${name}) as name_folded, 'department ' || (i % 60) as department_folded,
      ${'\nplanning\nfirst aid\n'} as skills_folded, lower(${name}) || ${'\n'} || ${email} || ${'\n'} || 'engineer ' || (i % 40) as search_folded`,
  );
  await fill(
    db,
    'groups',
    groups,
    sql`${id('grp', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at,
      'Group ' || i as name, 'group ' || i as name_folded`,
  );
  await fill(
    db,
    'memberships',
    people,
    sql`${id('grp', sql`(i * 13) % ${lit(groups)} + 1`)} as group_id, ${id('usr', sql`i`)} as user_id, ${timestamp} as added_at`,
  );
  await fill(
    db,
    'projects',
    projects,
    sql`${id('prj', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at, ${projectKey(sql`i`)} as key,
      'Project ' || i as name, case when i % 30 = 0 then 'on_hold' else 'active' end as status,
      case when i % 50 = 0 then ${timestamp} end as archived_at,
      ${id('usr', sql`(i * 17) % ${lit(people)} + 1`)} as lead_user_id,
      12 as appetite, '{}' as attributes, 'project ' || i as name_folded,
      lower(${projectKey(sql`i`)}) || ${'\n'} || 'project ' || i as search_folded,
      0 as open_issues, 0 as critical_issues, 0 as active_risks, 0 as unassessed_risks,
      ${lit(risk.perProject)} as risks_created, ${lit(issue.perProject)} as issues_created,
      ${lit(task.perProject)} as tasks_created`,
  );
  const riskKey = sql`${projectKey(risk.project)} || '-R' || ${risk.number}`;
  const riskTitle = sql`'The supplier of part ' || i || ' may be late'`;
  const isClosed = sql`i % 10 = 0`;
  await fill(
    db,
    'risks',
    risks,
    sql`${id('rsk', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${changedAt} as updated_at,
      ${riskKey} as key, ${id('prj', risk.project)} as project_id, ${riskTitle} as title, ${description} as description,
      case when i % 25 = 7 then 'opportunity' else 'threat' end as kind,
      case when i % 11 = 0 then null else 'Supply ' || (i % 9) end as category,
      case when i % 40 = 0 then null else (i * 7919) % 5 + 1 end as probability,
      case when i % 40 = 0 then null else (i / 7 * 3 + i) % 5 + 1 end as impact,
      case when i % 4 = 0 then null else (i * 31) % 2 + 1 end as residual_probability,
      case when i % 4 = 0 then null else (i * 17) % 3 + 1 end as residual_impact,
      case when ${isClosed} then 'closed' when i % 97 = 5 then 'materialized' when i % 29 = 3 then 'accepted'
        when i % 13 = 2 then 'monitoring' when i % 7 = 1 then 'mitigating' else 'open' end as status,
      case when ${isClosed} then 'The contract has ended.' end as closure_reason,
      case when i % 10 <> 0 and i % 97 <> 5 and i % 29 = 3 then '2027-0' || (i % 9 + 1) || '-15' end as accepted_until,
      case when i % 10 <> 0 and i % 97 <> 5 and i % 29 = 3 then 'Insured.' end as acceptance_reason,
      case when i % 5 = 0 then null when i % 50 = 1 then 'transfer' else 'mitigate' end as strategy,
      case when i % 3 = 0 then null else 'Find a second supplier.' end as response_plan,
      case when i % 60 = 1 or i % 20 = 2 then null else ${id('usr', sql`(i * 31) % ${lit(people)} + 1`)} end as owner_user_id,
      case when i % 20 = 2 then ${id('grp', sql`(i * 13) % ${lit(groups)} + 1`)} end as owner_group_id,
      '2026-0' || (i % 9 + 1) || '-1' || (i % 7) as raised_on,
      case when i % 3 = 0 then null else '2027-0' || (i % 9 + 1) || '-2' || (i % 8) end as due_on,
      case when i % 4 = 3 then null when i % 200 = 1 then '2026-10-1' || (i % 9)
        else '2027-0' || (i % 9 + 1) || '-0' || (i % 8 + 1) end as review_on,
      case when i % 10 = 1 then 'EXT-' || i end as external_id, '{}' as attributes,
      ${searchText(riskKey, riskTitle)} as search_folded`,
    { ...scoreExpressions(firstModel), initial_score: sql`probability * impact` },
  );
  const issueKey = sql`${projectKey(issue.project)} || '-I' || ${issue.number}`;
  const issueTitle = sql`'Part ' || i || ' is late'`;
  // In the same project.
  const linkedRisk = sql`((${issue.project} - 1) * ${lit(risk.perProject)} + (${issue.number} * 3) % ${lit(risk.perProject)} + 1)`;
  await fill(
    db,
    'issues',
    issues,
    sql`${id('iss', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${changedAt} as updated_at,
      ${issueKey} as key, ${id('prj', issue.project)} as project_id, ${issueTitle} as title, ${description} as description,
      case i % 4 when 0 then 'critical' when 1 then 'high' when 2 then 'medium' else 'low' end as severity,
      case i % 50 when 1 then 'urgent' when 2 then 'low' else 'normal' end as priority,
      case when i % 3 = 0 then 'closed' when i % 20 = 1 then 'blocked' when i % 7 = 1 then 'in_progress'
        else 'open' end as status,
      case when i % 3 = 0 then 'fixed' end as resolution,
      case when i % 3 <> 0 and i % 20 = 1 then 'The lorry has broken down.' end as blocked_reason,
      case when i % 60 = 1 then null else ${id('usr', sql`(i * 37) % ${lit(people)} + 1`)} end as assignee_user_id,
      case when i % 5 = 1 then ${id('usr', sql`(i * 41) % ${lit(people)} + 1`)} end as owner_user_id,
      case when i % 5 = 2 then ${id('grp', sql`(i * 13) % ${lit(groups)} + 1`)} end as owner_group_id,
      case when i % ${lit(issuesPerLinked)} = 0 and ${linkedRisk} <= ${lit(risks)} then ${id('rsk', linkedRisk)} end as risk_id,
      '2026-0' || (i % 9 + 1) || '-1' || (i % 7) as raised_on,
      case when i % 4 = 1 then null when i % 100 = 2 then '2026-10-1' || (i % 9)
        else '2027-0' || (i % 9 + 1) || '-0' || (i % 8 + 1) end as due_on,
      case when i % 10 = 1 then 'EXT-' || i end as external_id, '{}' as attributes,
      ${searchText(issueKey, issueTitle)} as search_folded`,
  );
  const taskKey = sql`${projectKey(task.project)} || '-T' || ${task.number}`;
  const taskTitle = sql`'Order part ' || i || ' again'`;
  await fill(
    db,
    'tasks',
    tasks,
    sql`${id('tsk', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${changedAt} as updated_at,
      ${taskKey} as key, ${id('prj', task.project)} as project_id, ${taskTitle} as title, ${description} as description,
      case when i % 15 = 0 then 'mitigation' else 'work' end as kind,
      case when i % 3 = 0 then 'done' when i % 20 = 1 then 'blocked' when i % 7 = 1 then 'in_progress'
        else 'todo' end as status,
      case when i % 60 = 1 then null else ${id('usr', sql`(i * 43) % ${lit(people)} + 1`)} end as assignee_user_id,
      case when i % 4 = 1 then null when i % 100 = 2 then '2026-10-1' || (i % 9)
        else '2027-0' || (i % 9 + 1) || '-0' || (i % 8 + 1) end as due_on,
      case when i % 10 = 1 then 'EXT-' || i end as external_id, ${searchText(taskKey, taskTitle)} as search_folded`,
  );
}

async function fill(
  db: Kysely<Tables>,
  table: string,
  rows: number,
  columns: ReturnType<typeof sql>,
  derived: Record<string, ReturnType<typeof sql>> = {},
) {
  if (rows === 0) return;
  const derivedColumns = Object.entries(derived).map(
    ([name, expression]) => sql`${expression} as ${sql.ref(name)}`,
  );
  const select = sql`select ${sql.join([sql`*`, ...derivedColumns])} from (select ${columns} from numbers) as filled`;
  const { rows: described } = await sql`with numbers(i) as (select 1) ${select}`.execute(db);
  const names = Object.keys(described[0] as object).map((column) => sql.ref(column));
  await sql`
    with recursive numbers(i) as (
      select cast(1 as bigint) union all select i + 1 from numbers where i < ${lit(rows)})
    insert into ${sql.table(table)} (${sql.join(names)}) ${select}`.execute(db);
}

/**
 * Fills the counters of projects. Runs after the indexes are created, because the counts need them. `rank_key` starts
 * with 99 for unassessed risks and sorts critical issues before 2.
 */
export const updateProjectCounts = (db: Kysely<Tables>) =>
  sql`
    update projects set
      active_risks = (select count(*) from risks where project_id = projects.id and active = 1),
      unassessed_risks =
        (select count(*) from risks where project_id = projects.id and active = 1 and rank_key >= '99'),
      open_issues = (select count(*) from issues where project_id = projects.id and issues.open = 1),
      critical_issues =
        (select count(*) from issues where project_id = projects.id and issues.open = 1 and rank_key < '2')`.execute(
    db,
  );

const lit = (number: number) => sql.lit(number);
const timestamp = sql.lit('2026-10-01T09:00:00.000Z');
/** Spread over ten days, so that few rows changed at the same time. */
const changedAt = sql`'2026-10-' || (i % 10 + 10) || 'T0' || (i % 9 + 1) || ':' || ((i * 7) % 50 + 10) || ':' || ((i * 31) % 50 + 10) || '.000Z'`;
const description = sql`'The part comes from one factory, which has been late in ' || (i % 12) || ' of the last twelve months. Nobody has asked a second one.'`;
/** As `foldAll` in `src/core/text.ts` returns it for ASCII texts. */
const searchText = (key: ReturnType<typeof sql>, title: ReturnType<typeof sql>) =>
  sql`lower(${key}) || ${'\n'} || lower(${title}) || ${'\n'} || lower(${description})`;
const name = sql`'Person ' || (10000000 + (i * 7907) % 89999999)`;
const email = sql`'person' || i || '@example.com'`;
const id = (prefix: string, number: ReturnType<typeof sql>) =>
  sql`${sql.lit(`${prefix}_000000000000000000`)} || (10000000 + ${number})`;
const projectKey = (number: ReturnType<typeof sql>) => sql`'P' || (100000 + ${number})`;

/** SQL for the project of row `i` and for its number within the project. Rows are divided evenly among projects. */
function distribute(rows: number, projects: number) {
  const perProject = Math.ceil(rows / projects);
  return {
    perProject,
    project: sql`((i - 1) / ${lit(perProject)} + 1)`,
    number: sql`((i - 1) % ${lit(perProject)} + 1)`,
  };
}
