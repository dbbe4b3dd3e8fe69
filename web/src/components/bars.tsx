import { Link } from 'wouter';
import { number } from '../format.ts';

type Bar = { label: string; count: number; href: string; tone?: string };

/** Counts beside each other, each leading to the list behind it. */
export function Bars({ bars }: { bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <ul className="bars">
      {bars.map(({ label, count, href, tone = 'plain' }) => (
        <li key={label}>
          <Link href={href}>
            <span className="bar-label">{label}</span>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect className="track" width="100" height="8" />
              <rect className={`fill tone-${tone}`} width={(count / most) * 100} height="8" />
            </svg>
            <span className="bar-count">{number(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
