/** What can be wanting about an entry of the register. */
export const checks = [
  'unassessed',
  'unowned',
  'owner_inactive',
  'review_overdue',
  'due_overdue',
  'no_response_plan',
  'residual_above_current',
  'acceptance_expiring',
  'above_appetite',
  'stale_90d',
] as const;
