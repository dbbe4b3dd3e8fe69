import type { Risk } from '../api/openapi.ts';
import { pluralize } from '../format.ts';

/** Follows the number of items. */
export type CountedName = readonly [singular: string, plural: string];

/** What someone has to decide, by check, most urgent first. */
export const decisionNames = {
  acceptance_expiring: ['acceptance expires soon', 'acceptances expire soon'],
  unowned: ['risk needs an owner', 'risks need an owner'],
  owner_inactive: ['risk has an inactive owner', 'risks have inactive owners'],
  no_response_plan: ['risk needs a response', 'risks need a response'],
  review_overdue: ['risk needs a review', 'risks need a review'],
} as const satisfies Partial<Record<Risk['checks'][number], CountedName>>;

export const blockedName: CountedName = ['issue is blocked', 'issues are blocked'];

export const countOf = (name: CountedName, count: number) =>
  count === 0 ? `No ${name[1]}` : pluralize(count, ...name);
