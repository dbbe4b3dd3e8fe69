import type { Issue } from '../api/openapi.ts';

export type IssueStatus = Issue['status'];

/** Where an issue may go from each state: as the service has it, which a test compares. */
export const issueMoves: Record<IssueStatus, readonly IssueStatus[]> = {
  open: ['in_progress', 'blocked', 'resolved'],
  in_progress: ['open', 'blocked', 'resolved'],
  blocked: ['open', 'in_progress', 'resolved'],
  resolved: ['closed', 'in_progress'],
  closed: ['open'],
};

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export const priorities = ['urgent', 'high', 'normal', 'low'] as const;
export const resolutions = ['fixed', 'workaround', 'wont_fix', 'duplicate', 'not_an_issue'] as const;
