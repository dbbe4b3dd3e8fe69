import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

type Props = { minWidth: number | undefined; children: ReactNode };

/** Scrolls a table sideways only if it is too wide, because the header of one that scrolls does not stay in view. */
export function TableFrame({ minWidth, children }: Props) {
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
  return (
    <div ref={frame} className={isTooWide ? 'scrolling' : undefined}>
      {children}
    </div>
  );
}
