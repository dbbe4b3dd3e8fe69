import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import { everyOf } from '../api/enums.ts';
import type { Risk } from '../api/openapi.ts';

export type RiskStatus = Risk['status'];

/** Where a risk may go from each state: as the service has it, which a test compares. */
export const riskMoves: Record<RiskStatus, readonly RiskStatus[]> = {
  open: ['mitigating', 'monitoring', 'accepted', 'materialized', 'closed'],
  mitigating: ['open', 'monitoring', 'accepted', 'materialized', 'closed'],
  monitoring: ['open', 'mitigating', 'accepted', 'materialized', 'closed'],
  accepted: ['open', 'mitigating', 'materialized', 'closed'],
  materialized: ['open', 'closed'],
  closed: ['open'],
};

export const levels = everyOf<NonNullable<Risk['level']>>({
  critical: true,
  high: true,
  medium: true,
  low: true,
});

/** What can be wanting about a risk. */
export const checks = everyOf<Risk['checks'][number]>({
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

export const strategies = everyOf<NonNullable<Risk['strategy']>>({
  avoid: true,
  mitigate: true,
  transfer: true,
  accept: true,
  escalate: true,
  exploit: true,
  enhance: true,
  share: true,
});

/** The words for the scales; they do not change while the console is open. */
export function useRiskModel() {
  return useQuery({
    queryKey: ['risk-model'],
    queryFn: () => answerOf(api.GET('/v1/risk-model')),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
