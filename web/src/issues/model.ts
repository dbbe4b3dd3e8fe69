import { everyOf } from '../api/enums.ts';
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

export const severities = everyOf<Issue['severity']>({ critical: true, high: true, medium: true, low: true });
export const priorities = everyOf<Issue['priority']>({ urgent: true, high: true, normal: true, low: true });
export const resolutions = everyOf<NonNullable<Issue['resolution']>>({
  fixed: true,
  workaround: true,
  wont_fix: true,
  duplicate: true,
  not_an_issue: true,
});
