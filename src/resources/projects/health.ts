import { type RawBuilder, sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { jsonObject, parsedJson } from '../../database/sql/functions.ts';
import { ranksAbove } from '../risks/ranking.ts';

/**
 * Whether a project is on track, with reasons a person can read. Each sign that holds is a reason; the gravest of them
 * is the state. A project about which nothing is known is not on track but unknown.
 */
export const projectHealth = (moment: Moment) => {
  const signs = signsOf(moment);
  const anyOf = (state: string) =>
    sql.join(
      signs.filter((sign) => sign.state === state).map(({ holds }) => sql`(${holds})`),
      sql` or `,
    );
  const reasons = signs.map(
    ({ holds, reason }) => sql`case when ${holds} then '"' || ${reason} || '",' else '' end`,
  );
  return jsonObject({
    state: sql`case when ${anyOf('off_track')} then 'off_track' when ${anyOf('at_risk')} then 'at_risk'
      when ${anyOf('unknown')} then 'unknown' else 'on_track' end`,
    reasons: parsedJson(sql`'[' || rtrim(${sql.join(reasons, sql` || `)}, ',') || ']'`),
  });
};

type Sign = {
  state: 'off_track' | 'at_risk' | 'unknown';
  holds: RawBuilder<boolean>;
  reason: RawBuilder<string>;
};

/** Reasons hold only numbers, days and keys, so that none needs escaping. */
const signsOf = ({ today }: Moment): Sign[] => [
  {
    state: 'off_track',
    holds: sql`projects.status in ('active', 'on_hold') and coalesce(projects.due_on, '9999-99-99') < ${today}`,
    reason: sql`'It was due on ' || projects.due_on`,
  },
  {
    state: 'off_track',
    holds: sql`coalesce(${topScore}, 0) >= 20 and ${topScore} > projects.appetite`,
    reason: aboveAppetite(),
  },
  {
    state: 'at_risk',
    holds: sql`coalesce(${topScore}, 0) < 20 and ${topScore} > projects.appetite`,
    reason: aboveAppetite(),
  },
  {
    state: 'at_risk',
    holds: sql`projects.critical_issues > 0`,
    reason: counted(sql`projects.critical_issues`, 'critical issue', ' open'),
  },
  {
    state: 'at_risk',
    holds: sql`${overdueTasks(today)} > 0`,
    reason: counted(overdueTasks(today), 'task', ' overdue'),
  },
  {
    state: 'unknown',
    holds: sql`projects.active_risks = projects.unassessed_risks and projects.open_issues = 0`,
    reason: sql`'No risk is assessed and no issue is open'`,
  },
];

/** The score of the risk that ranks first; the index of the ranking finds it at once. */
export const topScore = sql<number>`(select score from risks
  where project_id = projects.id and active = 1 order by rank_key limit 1)`;

export const overdueTasks = (today: string) => sql<number>`(select count(*) from tasks
  where project_id = projects.id and open = 1 and due_key < ${today})`;

function aboveAppetite(): RawBuilder<string> {
  const above = sql`(select count(*) from risks where project_id = projects.id and active = 1
    and ${ranksAbove(sql`projects.appetite`)})`;
  const topKey = sql`(select risks.key from risks
    where project_id = projects.id and active = 1 order by rank_key limit 1)`;
  return sql`${counted(above, 'risk', '')} || ' above appetite ' || projects.appetite
    || ', highest ' || ${topKey} || ' at ' || ${topScore}`;
}

const counted = (count: RawBuilder<unknown>, noun: string, state: string): RawBuilder<string> =>
  sql`${count} || case when ${count} = 1 then ${sql.lit(` ${noun}${state}`)} else ${sql.lit(` ${noun}s${state}`)} end`;
