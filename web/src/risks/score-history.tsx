import type { HistoryEntry, Risk } from '../api/openapi.ts';
import { useChanges } from '../comments/queries.ts';
import { formatTime } from '../format.ts';
import { activityOf } from '../layout/item-page.tsx';

type Point = { at: string; score: number | null; reason?: string | null };

const width = 240;
const height = 56;
const maxShown = 5;

/** How the score has changed since the risk was created. Nothing until it has changed. */
export function ScoreHistory({ risk }: { risk: Risk }) {
  const { data: changes } = useChanges(activityOf('risks', risk).subject);
  const points = scoresOf(risk, changes ?? []);
  if (points.length < 2) return null;
  const steps = points.flatMap((point, i) => {
    const before = points[i - 1];
    return before && before.score !== point.score ? [{ ...point, before: before.score }] : [];
  });
  return (
    <div className="score-history">
      <h3>Score over time</h3>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={stepLine(points)} />
      </svg>
      <ol>
        {steps
          .toReversed()
          .slice(0, maxShown)
          .map(({ at, before, score, reason }) => (
            <li key={at}>
              <time dateTime={at}>{formatTime(at)}</time>{' '}
              <span>
                {before ?? 'Not assessed'} → <strong>{score ?? 'Not assessed'}</strong>
              </span>
              {reason && <q dir="auto">{reason}</q>}
            </li>
          ))}
      </ol>
    </div>
  );
}

/** From the current values back in time: each entry of the history has the value before it. */
function scoresOf(risk: Risk, changes: readonly HistoryEntry[]): Point[] {
  const values = { probability: risk.probability, impact: risk.impact };
  const scored = changes.filter(({ field }) => field in values);
  const points: Point[] = [];
  for (const at of [...new Set(scored.map((entry) => entry.at))].sort().reverse()) {
    const entries = scored.filter((entry) => entry.at === at);
    points.unshift({ at, score: scoreOf(values), reason: entries[0]?.reason ?? null });
    for (const { field, from } of entries) {
      values[field as keyof typeof values] = from as number | null;
    }
  }
  return [{ at: risk.created_at, score: scoreOf(values) }, ...points];
}

const scoreOf = ({ probability, impact }: Record<'probability' | 'impact', number | null>) =>
  probability === null || impact === null ? null : probability * impact;

/** Until now, so that the last score has a length too. */
function stepLine(points: readonly Point[]): string {
  const times = [...points.map(({ at }) => Date.parse(at)), Date.now()];
  const [first = 0, last = 1] = [times[0], times.at(-1)];
  // A former model may have had higher scores than the one in force.
  const highest = Math.max(1, ...points.map(({ score }) => score ?? 0));
  const x = (time: number) => ((time - first) / Math.max(1, last - first)) * width;
  return points
    .map(({ score }, i) => {
      const y = height - 2 - ((score ?? 0) / highest) * (height - 4);
      return `${i === 0 ? 'M' : 'L'}${x(times[i] ?? first)} ${y}H${x(times[i + 1] ?? last)}`;
    })
    .join('');
}
