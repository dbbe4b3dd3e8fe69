import { type RawBuilder, sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { jsonObject, parsedJson } from '../../database/sql/functions.ts';
import { ranksAbove } from '../risks/ranking.ts';

/**
 * Computes the health of a project with human-readable reasons. Each rule that applies adds a reason; the most severe rule
 * sets the state. A project without any data is `unknown`, not `on_track`.
 */
export const projectHealth = (moment: Moment) => {
  const rules = healthRules(moment);
  const anyRuleOf = (state: string) =>
    sql.join(
      rules.filter((rule) => rule.state === state).map(({ applies }) => sql`(${applies})`),
      sql` or `,
    );
  const reasons = rules.map(
    ({ applies, reason }) => sql`case when ${applies} then '"' || ${reason} || '",' else '' end`,
  );
  return jsonObject({
    state: sql`case when ${anyRuleOf('off_track')} then 'off_track' when ${anyRuleOf('at_risk')} then 'at_risk'
      when ${anyRuleOf('unknown')} then 'unknown' else 'on_track' end`,
    reasons: parsedJson(sql`'[' || rtrim(${sql.join(reasons, sql` || `)}, ',') || ']'`),
  });
};

type HealthRule = {
  state: 'off_track' | 'at_risk' | 'unknown';
  applies: RawBuilder<boolean>;
  reason: RawBuilder<string>;
};

/** Reasons contain only numbers, days and keys, so they need no JSON escaping. */
const healthRules = ({ today }: Moment): HealthRule[] => [
  {
    state: 'off_track',
    applies: sql`projects.status in ('active', 'on_hold') and coalesce(projects.due_on, '9999-99-99') < ${today}`,
    reason: sql`'Was due on ' || projects.due_on`,
  },
  {
    state: 'off_track',
    applies: sql`coalesce(${topScore}, 0) >= 20 and ${topScore} > projects.appetite`,
    reason: appetiteReason(),
  },
  {
    state: 'at_risk',
    applies: sql`coalesce(${topScore}, 0) < 20 and ${topScore} > projects.appetite`,
    reason: appetiteReason(),
  },
  {
    state: 'at_risk',
    applies: sql`projects.critical_issues > 0`,
    reason: countOf(sql`projects.critical_issues`, 'critical issue', ' open'),
  },
  {
    state: 'at_risk',
    // A fifth of them: one late task among many says little about a project.
    applies: sql`${overdueTasks(today)} > 0 and ${overdueTasks(today)} * 5 >= ${openTasks}`,
    reason: sql`${overdueTasks(today)} || ' of ' || ${countOf(openTasks, 'open task', '')} || ' overdue'`,
  },
  {
    state: 'unknown',
    applies: sql`projects.active_risks = projects.unassessed_risks and projects.open_issues = 0`,
    reason: sql`'No assessed risks and no open issues'`,
  },
];

/** The score of the top-ranked risk, read from the ranking index. */
export const topScore = sql<number>`(select score from risks
  where project_id = projects.id and active = 1 order by rank_key limit 1)`;

export const overdueTasks = (today: string) => sql<number>`(select count(*) from tasks
  where project_id = projects.id and open = 1 and due_key < ${today})`;

const openTasks = sql<number>`(select count(*) from tasks where project_id = projects.id and open = 1)`;

function appetiteReason(): RawBuilder<string> {
  const above = sql`(select count(*) from risks where project_id = projects.id and active = 1
    and ${ranksAbove(sql`projects.appetite`)})`;
  const topKey = sql`(select risks.key from risks
    where project_id = projects.id and active = 1 order by rank_key limit 1)`;
  return sql`${countOf(above, 'risk', '')} || ' above appetite ' || projects.appetite
    || ', highest ' || ${topKey} || ' at ' || ${topScore}`;
}

const countOf = (count: RawBuilder<unknown>, noun: string, state: string): RawBuilder<string> =>
  sql`${count} || case when ${count} = 1 then ${sql.lit(` ${noun}${state}`)} else ${sql.lit(` ${noun}s${state}`)} end`;
