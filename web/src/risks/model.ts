import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import type { Risk, RiskModel } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { humanize } from '../format.ts';
import { kindClass, type RiskKind } from './kinds.ts';

export type RiskStatus = Risk['status'];

/** Others have ended, and are not in the register unless asked for. */
export const isActiveRisk = ({ status }: Pick<Risk, 'status'>) =>
  status !== 'materialized' && status !== 'closed';

/** The risk model in force. It seldom changes, and an event tells when it does, so it is read once. */
export function useRiskModel() {
  return useQuery({
    queryKey: ['risk-model'],
    queryFn: () => dataOrThrow(api.GET('/v1/risk-model')),
    staleTime: Number.POSITIVE_INFINITY,
    // Without the scope there are no risks to show either.
    enabled: useHasScope()('projects.read'),
  });
}

export type Level = NonNullable<Risk['level']>;
type Model = Pick<RiskModel, 'levels'>;

/**
 * The label of a level. Until the model is loaded, or if a past day had other levels, its id. Nothing about an opportunity
 * is critical.
 */
export const levelLabel = (model: Model | undefined, level: string, kind?: RiskKind) =>
  kind === 'opportunity' && level === 'critical'
    ? 'Very high'
    : (model?.levels.find((one) => one.level === level)?.label ?? humanize(level));

type ColorOptions = { kind?: RiskKind | undefined; cellColor?: string | null | undefined };

/** The class of a level, and its own color, if it or the cell has one. Opportunities have a scale of their own. */
export function levelColors(
  model: Model | undefined,
  level: Level | null,
  { kind, cellColor }: ColorOptions = {},
) {
  if (kind === 'opportunity') return { className: `level-${level}${kindClass(kind)}` };
  const color = cellColor ?? model?.levels.find((one) => one.level === level)?.color;
  const className = `level-${level}${color ? ' own-color' : ''}`;
  return { className, ...(color && { style: { '--own-color': color } as CSSProperties }) };
}

export const highestScore = ({ probability, impact }: Pick<RiskModel, 'probability' | 'impact'>) =>
  probability.length * impact.length;

/** The cell of a matrix. */
export const cellAt = <C extends { probability: number; impact: number }>(
  cells: readonly C[],
  probability: number,
  impact: number,
) => cells.find((cell) => cell.probability === probability && cell.impact === impact);

/** The ratings of the axes of a matrix, from 1. */
export const axesOf = (cells: readonly { probability: number; impact: number }[]) => {
  const upTo = (axis: 'probability' | 'impact') =>
    Array.from({ length: Math.max(0, ...cells.map((cell) => cell[axis])) }, (_, i) => i + 1);
  return { rows: upTo('probability').reverse(), columns: upTo('impact') };
};

/** The statuses that an item can go to, by its status. Until the rules are loaded there are none to offer. */
export function useTransitions<Status extends string>(list: 'risks' | 'issues') {
  const { data: model } = useRiskModel();
  const transitions = model?.transitions[list] as Record<Status, Status[]> | undefined;
  return (from: Status): Status[] => transitions?.[from] ?? [];
}
