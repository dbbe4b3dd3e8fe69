import { type RawBuilder, sql } from 'kysely';
import { daysLater, type Moment, startOf } from '../../../core/clock.ts';
import { parsedJson } from '../../../database/sql/functions.ts';
import { maxScore } from '../../risk-model/schema.ts';
import { checks } from '../schema.ts';

export type Check = (typeof checks)[number];

type Columns = { isOwnerInactive?: RawBuilder<boolean>; appetite?: RawBuilder<unknown> };

/** The SQL condition of each check. All except `residual_above_current` flag only active risks. */
export function checkConditions(
  moment: Moment,
  {
    isOwnerInactive = sql`coalesce(owner.status, 'active') = 'inactive'`,
    appetite = sql`projects.appetite`,
  }: Columns = {},
): Record<Check, RawBuilder<boolean>> {
  const { today } = moment;
  const active = sql`risks.active = 1`;
  const never = '9999-99-99';
  return {
    unassessed: sql`(${active} and risks.score is null)`,
    unowned: sql`(${active} and risks.owner_user_id is null and risks.owner_group_id is null)`,
    owner_inactive: sql`(${active} and ${isOwnerInactive})`,
    review_overdue: sql`(${active} and coalesce(risks.review_on, ${never}) < ${today})`,
    due_overdue: sql`(${active} and coalesce(risks.due_on, ${never}) < ${today})`,
    // As in the index of the list.
    no_response_plan: sql`(${active} and risks.status <> 'accepted'
      and case when risks.response_plan is null then 1 else 0 end = 1)`,
    residual_above_current: sql`(risks.kind = 'threat'
      and coalesce(risks.residual_score, 0) > coalesce(risks.score, ${sql.lit(maxScore)}))`,
    acceptance_expiring: sql`(risks.status = 'accepted'
      and coalesce(risks.accepted_until, ${never}) <= ${daysLater(today, 30)})`,
    above_appetite: sql`(${active} and risks.kind = 'threat' and coalesce(risks.score, 0) > ${appetite})`,
    stale_90d: sql`(${active} and risks.updated_at < ${startOf(daysLater(today, -90), moment)})`,
  };
}

/** The names of the checks that flag a risk, as a JSON array. */
export function checksOfRisk(moment: Moment) {
  const conditions = checkConditions(moment);
  const names = checks.map(
    (check) => sql`case when ${conditions[check]} then ${sql.lit(`"${check}",`)} else '' end`,
  );
  return parsedJson(sql`'[' || rtrim(${sql.join(names, sql` || `)}, ',') || ']'`);
}
