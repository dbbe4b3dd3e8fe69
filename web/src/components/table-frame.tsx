import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

type Props = { label: string; minWidth: number | undefined; children: ReactNode };

/** Scrolls a table sideways only if it is too wide, because the header of one that scrolls does not stay in view. */
export function TableFrame({ label, minWidth, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [isTooWide, setTooWide] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || minWidth === undefined) return setTooWide(false);
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const observer = new ResizeObserver(() => setTooWide(element.clientWidth < minWidth * rem));
    observer.observe(element);
    return () => observer.disconnect();
  }, [minWidth]);
  // In focus, the arrow keys scroll it.
  const scrolling = {
    className: 'scrolling',
    role: 'region',
    tabIndex: 0,
    'aria-label': `${label}, all columns`,
  };
  return (
    <div ref={frame} {...(isTooWide && scrolling)}>
      {children}
    </div>
  );
}
