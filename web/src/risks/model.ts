import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow, enumValues } from '../api/client.ts';
import type { Risk } from '../api/openapi.ts';

export type RiskStatus = Risk['status'];

export const riskStatuses = enumValues<RiskStatus>({
  open: true,
  mitigating: true,
  monitoring: true,
  accepted: true,
  materialized: true,
  closed: true,
});

/** Others have ended, and are not in the register unless asked for. */
export const isActiveRisk = ({ status }: Pick<Risk, 'status'>) =>
  status !== 'materialized' && status !== 'closed';

export const levels = enumValues<NonNullable<Risk['level']>>({
  critical: true,
  high: true,
  medium: true,
  low: true,
});

/** Reasons why a risk needs attention. */
export const checks = enumValues<Risk['checks'][number]>({
  unassessed: true,
  unowned: true,
  owner_inactive: true,
  review_overdue: true,
  due_overdue: true,
  no_response_plan: true,
  residual_above_current: true,
  acceptance_expiring: true,
  above_appetite: true,
  stale_90d: true,
});

export const strategies = enumValues<NonNullable<Risk['strategy']>>({
  avoid: true,
  mitigate: true,
  transfer: true,
  accept: true,
  escalate: true,
  exploit: true,
  enhance: true,
  share: true,
});

/** The values of probability and impact. */
export const scale = [1, 2, 3, 4, 5] as const;

/** The bounds of the levels are part of the API and never change. */
export const levelOf = (score: number) =>
  score >= 20 ? 'critical' : score >= 12 ? 'high' : score >= 6 ? 'medium' : 'low';

/** The labels of the scales. They never change at run time, so they are read once. */
export function useRiskModel() {
  return useQuery({
    queryKey: ['risk-model'],
    queryFn: () => dataOrThrow(api.GET('/v1/risk-model')),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The statuses that a risk can go to, by its status. Until the rules are loaded there are none to offer. */
export function useRiskTransitions() {
  const { data: model } = useRiskModel();
  return (from: RiskStatus) => (model?.transitions.risks[from] ?? []) as RiskStatus[];
}
