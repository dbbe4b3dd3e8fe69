/** What someone has to decide, by check. */
export const decisionNames: Partial<Record<string, string>> = {
  acceptance_expiring: 'Renew or end the acceptance',
  unowned: 'Name an owner',
  owner_inactive: 'Replace an inactive owner',
  no_response_plan: 'Agree on a response',
  review_overdue: 'Review the risk',
};
