import { type RawBuilder, sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { jsonObject, parsedJson } from '../../database/sql/functions.ts';
import { checkConditions } from '../risks/rules/checks.ts';
import { ranksAbove, unassessedPrefix } from '../risks/rules/ranking.ts';

/**
 * Computes the health of a project with human-readable reasons. Each rule that applies adds a reason; the most severe rule
 * sets the state. What is too little for its rule is a warning. A project without any data is `unknown`, not `on_track`. Only
 * threats count: an opportunity with a high score is no reason to worry.
 */
export function projectHealth(moment: Moment) {
  const rules = healthRules(moment);
  const anyRuleOf = (state: string) =>
    sql.join(
      rules.filter((rule) => rule.state === state).map(({ applies }) => sql`(${applies})`),
      sql` or `,
    );
  const health = jsonObject({
    state: sql`case when ${anyRuleOf('off_track')} then 'off_track' when ${anyRuleOf('at_risk')} then 'at_risk'
      when ${anyRuleOf('unknown')} then 'unknown' else 'on_track' end`,
    reasons: textsOf(rules.map(({ applies, reason }) => ({ applies, text: reason }))),
    warnings: textsOf(
      rules.flatMap(({ applies, part }) =>
        part ? { applies: sql`${part.count} > 0 and not (${applies})`, text: part.warning } : [],
      ),
    ),
  });
  return parsedJson(sql`(select ${health} from ${measures(moment)})`);
}

type HealthRule = {
  state: 'off_track' | 'at_risk' | 'unknown';
  applies: RawBuilder<boolean>;
  reason: RawBuilder<string>;
  /** Of a rule that applies from a quarter on: what it counts, and the text for fewer. */
  part?: { count: RawBuilder<unknown>; warning: RawBuilder<string> };
};

/** A JSON array of the texts that apply. */
function textsOf(texts: { applies: RawBuilder<boolean>; text: RawBuilder<string> }[]) {
  const elements = texts.map(
    ({ applies, text }) => sql`case when ${applies} then '"' || ${text} || '",' else '' end`,
  );
  return parsedJson(sql`'[' || rtrim(${sql.join(elements, sql` || `)}, ',') || ']'`);
}

/**
 * One late task or one high risk among many says little about a project, so those count from a quarter on, and are warnings
 * before. Reasons contain only numbers, days and keys, so they need no JSON escaping.
 */
const healthRules = ({ today }: Moment): HealthRule[] => [
  {
    state: 'off_track',
    applies: sql`projects.status in ('active', 'on_hold') and coalesce(projects.due_on, '9999-99-99') < ${today}`,
    reason: sql`'Was due on ' || projects.due_on`,
  },
  {
    state: 'off_track',
    applies: sql`measures.unplanned is not null`,
    reason: sql`'No response plan for critical risk ' || measures.unplanned`,
  },
  {
    state: 'at_risk',
    applies: sql`measures.top_level = 'critical' and measures.above > 0
      or ${isQuarter(sql`measures.above`, assessedRisks)}`,
    reason: sql`${aboveAppetite} || ', highest ' || measures.top_key || ' at ' || measures.top_score`,
    part: belowQuarter(sql`measures.above`, aboveAppetite),
  },
  {
    state: 'at_risk',
    applies: sql`measures.late_issues > 0`,
    reason: countOf(sql`measures.late_issues`, 'critical issue', ' overdue'),
  },
  {
    state: 'at_risk',
    applies: isQuarter(sql`projects.critical_issues`, sql`projects.open_issues`),
    reason: criticalIssues,
    part: belowQuarter(sql`projects.critical_issues`, criticalIssues),
  },
  {
    state: 'at_risk',
    applies: isQuarter(sql`measures.late_tasks`, sql`measures.open_tasks`),
    reason: lateTasks,
    part: belowQuarter(sql`measures.late_tasks`, lateTasks),
  },
  {
    state: 'unknown',
    applies: sql`${assessedRisks} = 0 and projects.open_issues = 0`,
    reason: sql`'No assessed risks and no open issues'`,
  },
];

const assessedRisks = sql<number>`measures.assessed`;

const aboveAppetite = sql<string>`${partOf(sql`measures.above`, assessedRisks, 'assessed risk')} || ' above appetite '
  || projects.appetite`;
const criticalIssues = sql<string>`${partOf(sql`projects.critical_issues`, sql`projects.open_issues`, 'open issue')}
  || ' critical'`;
const lateTasks = sql<string>`${partOf(sql`measures.late_tasks`, sql`measures.open_tasks`, 'open task')} || ' overdue'`;

/** The active opportunities of a project, which an index of their own finds. They are neither risky nor above an appetite. */
const opportunitiesWhere = (condition: RawBuilder<boolean>) =>
  sql<number>`(select count(*) from risks
    where project_id = projects.id and active = 1 and kind = 'opportunity' and ${condition})`;

const isAssessed = sql<boolean>`rank_key < ${sql.lit(unassessedPrefix)}`;

/** The counters of a project contain its threats and its opportunities. */
export const opportunities = opportunitiesWhere(sql`1 = 1`);
export const activeThreats = sql<number>`(projects.active_risks - ${opportunities})`;
export const unassessedThreats = sql<number>`(projects.unassessed_risks
  - ${opportunitiesWhere(sql`not (${isAssessed})`)})`;

/** Because of its limit, neither engine merges this subquery into the rules, which would count everything again. */
const measures = (moment: Moment) => sql`(select
  ${topScore} as top_score,
  ${topLevel} as top_level,
  ${topRisk(sql`key`)} as top_key,
  projects.active_risks - projects.unassessed_risks - ${opportunitiesWhere(isAssessed)} as assessed,
  (select count(*) from risks
    where project_id = projects.id and active = 1 and ${ranksAbove(sql`projects.appetite`)})
    - ${opportunitiesWhere(ranksAbove(sql`projects.appetite`))} as above,
  (select key from risks where project_id = projects.id and ${ranksAbove(sql`projects.appetite`)}
    and level = 'critical' and kind = 'threat' and ${checkConditions(moment).no_response_plan}
    order by rank_key limit 1) as unplanned,
  ${sql.join(criticalPrefixes.map(overdueIssues(moment.today)), sql` + `)} as late_issues,
  ${overdueTasks(moment.today)} as late_tasks,
  (select count(*) from tasks where project_id = projects.id and open = 1) as open_tasks
  limit 1) as measures`;

/** A column of the top-ranked threat, which the ranking index finds. */
function topRisk(column: RawBuilder<unknown>) {
  return sql<number>`(select risks.${column} from risks
    where project_id = projects.id and active = 1 and kind = 'threat' order by rank_key limit 1)`;
}

export const topScore = topRisk(sql`score`);
export const topLevel = topRisk(sql`level`);

export const overdueTasks = (today: string) => sql<number>`(select count(*) from tasks
  where project_id = projects.id and open = 1 and due_key < ${today})`;

/** How the rank keys of critical issues begin: with 1 for the severity, then a digit for each priority. */
const criticalPrefixes = ['11', '12', '13', '14'];

/** The issues of a severity and a priority are a range of the ranking index, in which they are ordered by due date. */
const overdueIssues = (today: string) => (prefix: string) =>
  sql<number>`(select count(*) from issues
  where project_id = projects.id and open = 1 and rank_key >= ${prefix} and rank_key < ${prefix + today})`;

function isQuarter(part: RawBuilder<unknown>, whole: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${part} > 0 and ${part} * 4 >= ${whole})`;
}

function belowQuarter(count: RawBuilder<unknown>, text: RawBuilder<string>) {
  return { count, warning: sql<string>`${text} || ', below the threshold of a quarter'` };
}

function partOf(part: RawBuilder<unknown>, whole: RawBuilder<unknown>, noun: string): RawBuilder<string> {
  return sql`${part} || ' of ' || ${countOf(whole, noun)}`;
}

function countOf(count: RawBuilder<unknown>, noun: string, state = ''): RawBuilder<string> {
  return sql`${count} || case when ${count} = 1 then ${sql.lit(` ${noun}${state}`)} else ${sql.lit(` ${noun}s${state}`)} end`;
}
