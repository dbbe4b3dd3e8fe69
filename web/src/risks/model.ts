import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Risk } from '../api/openapi.ts';

export type RiskStatus = Risk['status'];

/** Others have ended, and are not in the register unless asked for. */
export const isActiveRisk = ({ status }: Pick<Risk, 'status'>) =>
  status !== 'materialized' && status !== 'closed';

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

/** The statuses that an item can go to, by its status. Until the rules are loaded there are none to offer. */
export function useTransitions<Status extends string>(list: 'risks' | 'issues') {
  const { data: model } = useRiskModel();
  const transitions = model?.transitions[list] as Record<Status, Status[]> | undefined;
  return (from: Status): Status[] => transitions?.[from] ?? [];
}
