import { enumValues } from '../api/client.ts';
import type { Issue } from '../api/openapi.ts';
import { useRiskModel } from '../risks/model.ts';

export type IssueStatus = Issue['status'];

export const issueStatuses = enumValues<IssueStatus>({
  open: true,
  in_progress: true,
  blocked: true,
  resolved: true,
  closed: true,
});

export const severities = enumValues<Issue['severity']>({
  critical: true,
  high: true,
  medium: true,
  low: true,
});

export const priorities = enumValues<Issue['priority']>({
  urgent: true,
  high: true,
  normal: true,
  low: true,
});

export const resolutions = enumValues<NonNullable<Issue['resolution']>>({
  fixed: true,
  workaround: true,
  wont_fix: true,
  duplicate: true,
  not_an_issue: true,
});

/** The statuses that an issue can go to, by its status. Until the rules are loaded there are none to offer. */
export function useIssueTransitions() {
  const { data: model } = useRiskModel();
  return (from: IssueStatus) => (model?.transitions.issues[from] ?? []) as IssueStatus[];
}
