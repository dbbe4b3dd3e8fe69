import { Link } from 'wouter';
import { formatNumber } from '../format.ts';
import './bars.css';

type Bar = { label: string; count: number; href: string; level?: string };

/** A bar chart of counts. Each bar links to the list it counts. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  const max = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <ul className="bars">
      {bars.map(({ label, count, href, level }) => (
        <li key={label}>
          <Link href={href}>
            <span className="bar-label">{label}</span>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect className="track" width="100" height="8" />
              <rect
                className={level ? `fill level-${level}` : 'fill'}
                width={(count / max) * 100}
                height="8"
              />
            </svg>
            <span className="bar-count">{formatNumber(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
