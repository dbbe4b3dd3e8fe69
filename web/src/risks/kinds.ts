import type { Risk } from '../api/openapi.ts';
import { humanize } from '../format.ts';

export type RiskKind = Risk['kind'];

/** What the console says of threats and of opportunities, and what can be done about them. */
const words = {
  threat: {
    noun: 'risk',
    plural: 'risks',
    probability: 'Probability',
    impact: 'Impact',
    materialized: 'Occurred',
    score: 'Risk score',
    strategies: ['avoid', 'mitigate', 'transfer', 'accept', 'escalate'],
  },
  opportunity: {
    noun: 'opportunity',
    plural: 'opportunities',
    probability: 'Likelihood',
    impact: 'Benefit',
    materialized: 'Realized',
    score: 'Opportunity score',
    strategies: ['exploit', 'enhance', 'share', 'accept', 'escalate'],
  },
} as const;

export const wordsOf = (kind: RiskKind = 'threat') => words[kind];

/** Has colors of its own. */
export const kindClass = (kind: RiskKind | undefined) => (kind === 'opportunity' ? ' opportunity' : '');

/** An opportunity is realized, a threat occurs. */
export const riskStatusLabel = (status: string, kind?: RiskKind) =>
  status === 'materialized' ? wordsOf(kind).materialized : humanize(status);
