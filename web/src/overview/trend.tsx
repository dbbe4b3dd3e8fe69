import { useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { RiskTrend } from '../api/openapi.ts';
import { formatDay, formatNumber, formatShortDay, pluralize, today } from '../format.ts';
import { levelColors, levelLabel, useRiskModel } from '../risks/model.ts';

const height = 250;
const margin = { top: 12, right: 18, bottom: 24, left: 44 };

/** From the bottom: the most severe changes are the ones to see. */
const levels = ['critical', 'high', 'medium', 'low', 'very_low'] as const;

/** The sum of all scores over time, stacked by level. Each point links to the risks as of its day, today's to the current ones. */
export function Trend({ points }: { points: RiskTrend }) {
  const { ref, width } = useWidth();
  const { data: model } = useRiskModel();
  const isShown = (level: (typeof levels)[number]) =>
    level !== 'very_low' || points.some(({ sum_by_level }) => sum_by_level.very_low > 0);
  const stack = levels.filter(isShown);
  const max = niceCeiling(Math.max(1, ...points.map(({ sum }) => sum)));
  const x = (index: number) =>
    margin.left + (index / Math.max(1, points.length - 1)) * (width - margin.left - margin.right);
  const y = (value: number) => height - margin.bottom - (value / max) * (height - margin.top - margin.bottom);
  const lineOf = (heightOf: (point: RiskTrend[number]) => number) =>
    points.map((point, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(heightOf(point))}`).join('');
  /** The areas overlap: each reaches from the axis to the sum of its level and those below. */
  const areas = stack.map((level, i) => {
    const included = stack.slice(0, i + 1);
    const line = lineOf(({ sum_by_level }) => included.reduce((sum, one) => sum + sum_by_level[one], 0));
    return { level, path: `${line}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z` };
  });
  const areaOf = (level: (typeof levels)[number]) => {
    const { className, ...style } = levelColors(model, level);
    return { className: `area ${className}`, ...style };
  };
  const now = points.at(-1)?.sum_by_level;
  const labelEvery = Math.ceil(points.length / Math.max(2, Math.floor((width - margin.left) / 80)));
  return (
    <figure className="trend" ref={ref}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Total risk score by week</title>
        {[0, max / 2, max].map((value) => (
          <g key={value}>
            <line className="grid" x1={margin.left} x2={width - margin.right} y1={y(value)} y2={y(value)} />
            <text className="tick-label" x={margin.left - 8} y={y(value) + 4} textAnchor="end">
              {formatNumber(value)}
            </text>
          </g>
        ))}
        {areas.toReversed().map(({ level, path }) => (
          <path key={level} {...areaOf(level)} d={path} />
        ))}
        <path className="line" d={lineOf(({ sum }) => sum)} />
        {points.map(({ day: at, sum, count }, index) => (
          <g key={at}>
            {index % labelEvery === 0 && (
              <text className="tick-label" x={x(index)} y={height - 5} textAnchor="middle">
                {formatShortDay(at)}
              </text>
            )}
            <Link
              href={at === today() ? '/risks?kind=threat' : `/risks?kind=threat&as_of=${at}`}
              aria-label={`${formatDay(at)}: total risk score ${formatNumber(sum)}, ${pluralize(count, 'risk')}`}
            >
              <circle className="hit" cx={x(index)} cy={y(sum)} r="12" />
              <circle className="point" cx={x(index)} cy={y(sum)} r="3.5" />
              <title>
                {formatDay(at)}: {formatNumber(sum)} from {pluralize(count, 'risk')}
              </title>
            </Link>
          </g>
        ))}
      </svg>
      {now && (
        <figcaption className="legend">
          {stack.map((level) => (
            <span key={level} {...levelColors(model, level)}>
              {levelLabel(model, level)} {formatNumber(now[level])}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

/** The width of the figure: drawn to scale, its text is as large as other text. */
function useWidth() {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(440);
  useLayoutEffect(() => {
    if (!ref.current) return;
    const observer = new ResizeObserver(
      ([entry]) => entry && setWidth(Math.max(200, Math.floor(entry.contentRect.width))),
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

/** The next round number for an axis. */
function niceCeiling(value: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * magnitude).find((step) => step >= value) ?? value;
}
