import { Link } from 'wouter';
import { formatNumber } from '../format.ts';
import { notToScale, scaleOf } from './scale.ts';
import './bars.css';

type Bar = { label: string; count: number; href: string; level?: string };

/** Two slanted lines through a bar that is longer than shown. */
const cutMark = 'M78 8 L81 0 L83 0 L80 8 Z M84 8 L87 0 L89 0 L86 8 Z';

/** A bar chart of counts. Each bar links to the list it counts. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  const { max, isCut } = scaleOf(bars.map(({ count }) => count));
  return (
    <ul className="bars">
      {bars.map(({ label, count, href, level }) => (
        <li key={label}>
          <Link href={href} title={isCut(count) ? notToScale : undefined}>
            <span className="bar-label">{label}</span>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect className="track" width="100" height="8" />
              <rect
                className={level ? `fill level-${level}` : 'fill'}
                width={Math.min(100, (count / max) * 100)}
                height="8"
              />
              {isCut(count) && <path className="cut" d={cutMark} />}
            </svg>
            <span className="bar-count">{formatNumber(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
