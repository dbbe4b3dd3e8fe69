import { type Kysely, sql } from 'kysely';
import { scoreExpressions } from '../src/resources/risks/rules/score-columns.ts';
import type { Tables } from '../src/store/tables.ts';

export type Sizes = { projects: number; people: number; risks: number; issues: number };

const groups = 200;

/**
 * Generates an organization of any size inside the database. The rows are the same every time; multiplying by primes
 * spreads the values evenly. Every statement works on both engines. Risks and issues are inserted project by project, so
 * that their keys are in order: appending to an index is many times faster than inserting in random order.
 */
export async function fillDataset(db: Kysely<Tables>, sizes: Sizes): Promise<void> {
  const { projects, people, risks, issues } = sizes;
  const risk = distribute(risks, projects);
  const issue = distribute(issues, projects);
  // One risk in twenty is linked to an issue, at every size.
  const issuesPerLinked = Math.max(1, Math.round((20 * issues) / Math.max(1, risks)));
  await fill(
    db,
    'people',
    people,
    sql`${id('usr', sql`i`)} as user_id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at,
      ${name} as name, ${email} as email, 'Engineer ' || (i % 40) as title, 'Department ' || (i % 60) as department,
      'Site ' || (i % 12) as location, 'human' as kind, '["planning","first aid"]' as skills, 'active' as status,
      '{}' as attributes, lower(${name}) as name_folded, 'department ' || (i % 60) as department_folded,
      ${'\nplanning\nfirst aid\n'} as skills_folded, lower(${name}) || ${'\n'} || ${email} as search_folded`,
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
      'Project ' || i as name, 'active' as status, ${id('usr', sql`(i * 17) % ${lit(people)} + 1`)} as lead_user_id,
      12 as appetite, '{}' as attributes, 'project ' || i as name_folded, 'project ' || i as search_folded,
      0 as open_issues, 0 as critical_issues, 0 as active_risks, 0 as unassessed_risks,
      ${lit(risk.perProject)} as risks_created, ${lit(issue.perProject)} as issues_created, 0 as tasks_created`,
  );
  await fill(
    db,
    'risks',
    risks,
    sql`${id('rsk', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at,
      ${projectKey(risk.project)} || '-R' || ${risk.number} as key, ${id('prj', risk.project)} as project_id,
      'The supplier of part ' || i || ' may be late' as title, ${description} as description, 'threat' as kind,
      'Supply ' || (i % 9) as category, case when i % 40 = 0 then null else (i * 7919) % 5 + 1 end as probability,
      case when i % 40 = 0 then null else (i * 104729) % 5 + 1 end as impact, 1 as residual_probability,
      1 as residual_impact, case when i % 10 = 0 then 'closed' else 'open' end as status, 'mitigate' as strategy,
      ${id('usr', sql`(i * 31) % ${lit(people)} + 1`)} as owner_user_id,
      '2026-0' || (i % 9 + 1) || '-1' || (i % 7) as raised_on,
      case when i % 3 = 0 then null else '2027-0' || (i % 9 + 1) || '-2' || (i % 8) end as due_on,
      '{}' as attributes, 'the supplier of part ' || i || ' may be late' as search_folded`,
    scoreExpressions,
  );
  await fill(
    db,
    'issues',
    issues,
    sql`${id('iss', sql`i`)} as id, 1 as version, ${timestamp} as created_at, ${timestamp} as updated_at,
      ${projectKey(issue.project)} || '-I' || ${issue.number} as key, ${id('prj', issue.project)} as project_id,
      'Part ' || i || ' is late' as title, ${description} as description,
      case i % 4 when 0 then 'critical' when 1 then 'high' when 2 then 'medium' else 'low' end as severity,
      'normal' as priority, case when i % 3 = 0 then 'closed' else 'open' end as status,
      ${id('usr', sql`(i * 37) % ${lit(people)} + 1`)} as assignee_user_id,
      case when i % ${lit(issuesPerLinked)} = 0 then ${id('rsk', sql`(i * 3) % ${lit(risks)} + 1`)} end as risk_id,
      '2026-0' || (i % 9 + 1) || '-1' || (i % 7) as raised_on, '{}' as attributes, 'part ' || i as search_folded`,
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
const timestamp = sql.lit('2026-11-01T09:00:00.000Z');
const description = sql`'The part comes from one factory, which has been late in ' || (i % 12) || ' of the last twelve months. Nobody has asked a second one.'`;
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
