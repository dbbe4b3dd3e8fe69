import type { Issue, Risk } from './openapi.ts';

/**
 * A copy of the service's allowed status transitions, which the API does not serve yet. The browser tests compare it
 * with the service. Once the API serves them, these two functions read its response instead.
 */
export const riskTransitions = (from: Risk['status']) => risk[from];
export const issueTransitions = (from: Issue['status']) => issue[from];

const risk: Record<Risk['status'], readonly Risk['status'][]> = {
  open: ['mitigating', 'monitoring', 'accepted', 'materialized', 'closed'],
  mitigating: ['open', 'monitoring', 'accepted', 'materialized', 'closed'],
  monitoring: ['open', 'mitigating', 'accepted', 'materialized', 'closed'],
  accepted: ['open', 'mitigating', 'materialized', 'closed'],
  materialized: ['open', 'closed'],
  closed: ['open'],
};

const issue: Record<Issue['status'], readonly Issue['status'][]> = {
  open: ['in_progress', 'blocked', 'resolved'],
  in_progress: ['open', 'blocked', 'resolved'],
  blocked: ['open', 'in_progress', 'resolved'],
  resolved: ['closed', 'in_progress'],
  closed: ['open'],
};
