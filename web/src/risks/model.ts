import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
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

/** The words for the scales; they do not change while the console is open. */
export function useRiskModel() {
  return useQuery({
    queryKey: ['risk-model'],
    queryFn: () => answerOf(api.GET('/v1/risk-model')),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
