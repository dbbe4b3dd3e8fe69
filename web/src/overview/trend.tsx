import { Link } from 'wouter';
import type { RiskTrend } from '../api/openapi.ts';
import { day, dayShort, number, plural } from '../format.ts';

const width = 640;
const height = 300;
const margin = { top: 12, right: 8, bottom: 22, left: 44 };

/** The sum of all scores over time; each point leads to the register as it stood that day. */
export function Trend({ points }: { points: RiskTrend }) {
  const most = niceCeiling(Math.max(1, ...points.map(({ sum }) => sum)));
  const x = (index: number) =>
    margin.left + (index / Math.max(1, points.length - 1)) * (width - margin.left - margin.right);
  const y = (value: number) =>
    height - margin.bottom - (value / most) * (height - margin.top - margin.bottom);
  const line = points.map(({ sum }, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(sum)}`).join('');
  const area = `${line}L${x(points.length - 1)} ${y(0)}L${x(0)} ${y(0)}Z`;
  const labelled = points.length > 8 ? Math.ceil(points.length / 6) : 1;
  return (
    <figure className="trend">
      <svg viewBox={`0 0 ${width} ${height}`}>
        <title>Exposure, week by week</title>
        {[0, most / 2, most].map((value) => (
          <g key={value}>
            <line className="grid" x1={margin.left} x2={width - margin.right} y1={y(value)} y2={y(value)} />
            <text className="tick-label" x={margin.left - 8} y={y(value) + 4} textAnchor="end">
              {number(value)}
            </text>
          </g>
        ))}
        <path className="area" d={area} />
        <path className="line" d={line} />
        {points.map(({ day: at, sum, count }, index) => (
          <g key={at}>
            {index % labelled === 0 && (
              <text className="tick-label" x={x(index)} y={height - 5} textAnchor="middle">
                {dayShort(at)}
              </text>
            )}
            <Link
              href={`/risks?as_of=${at}`}
              aria-label={`${day(at)}: exposure ${number(sum)}, ${plural(count, 'risk')}`}
            >
              <circle className="hit" cx={x(index)} cy={y(sum)} r="12" />
              <circle className="point" cx={x(index)} cy={y(sum)} r="3.5" />
              <title>
                {day(at)}: {number(sum)} over {plural(count, 'risk')}
              </title>
            </Link>
          </g>
        ))}
      </svg>
    </figure>
  );
}

/** The next number above that reads well on an axis. */
function niceCeiling(value: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].map((step) => step * magnitude).find((step) => step >= value) ?? value;
}
