import { type RefObject, useLayoutEffect } from 'react';

const controls = 'button, input, select, textarea, .button, [role="button"]';
const margin = 16;
const step = 8;

type Box = { left: number; top: number; right: number; bottom: number };

/**
 * Keeps the messages where they cover no button and no field: from the bottom up, at the right, in the middle or at the
 * left. Where there is no such place, they stay at the bottom right.
 */
export function usePlace(region: RefObject<HTMLElement | null>, count: number): void {
  useLayoutEffect(() => {
    const element = region.current;
    if (!element || count === 0) return;
    let frame = 0;
    const place = () => {
      frame = 0;
      // Whoever is about to use it must not miss it.
      if (element.matches(':hover, :focus-within')) return;
      const { offsetWidth: width, offsetHeight: height } = element;
      // A dialog leaves room above it: see toast.css.
      const isBesideDialog = document.querySelector('.overlay') !== null;
      const { left, top } = (!isBesideDialog && freePlace(width, height, coveredBoxes(element))) || {};
      move(element, 'left', inPixels(left));
      move(element, 'top', inPixels(top));
      // Otherwise the box would reach from its top to the bottom of the window.
      move(element, 'bottom', top === undefined ? '' : 'auto');
    };
    const request = () => {
      frame ||= requestAnimationFrame(place);
    };
    place();
    // Buttons come and go, and move.
    const changes = new MutationObserver(request);
    changes.observe(document.body, { childList: true, subtree: true, attributes: true, characterData: true });
    addEventListener('scroll', request, { passive: true, capture: true });
    addEventListener('resize', request);
    element.addEventListener('pointerleave', request);
    return () => {
      cancelAnimationFrame(frame);
      changes.disconnect();
      removeEventListener('scroll', request, { capture: true });
      removeEventListener('resize', request);
      element.removeEventListener('pointerleave', request);
    };
  }, [region, count]);
}

/** Does nothing where it is already, because each change is observed. */
function move({ style }: HTMLElement, side: 'left' | 'top' | 'bottom', value: string): void {
  if (style[side] !== value) style[side] = value;
}

const inPixels = (value: number | undefined) => (value === undefined ? '' : `${Math.round(value)}px`);

/** Where the visible controls are. */
function coveredBoxes(region: HTMLElement): Box[] {
  return [...document.querySelectorAll(controls)]
    .filter((control) => !region.contains(control))
    .map((control) => control.getBoundingClientRect())
    .filter(({ width, bottom, top }) => width > 0 && bottom > 0 && top < innerHeight);
}

function freePlace(width: number, height: number, boxes: readonly Box[]) {
  const right = document.documentElement.clientWidth - margin - width;
  const start = document.querySelector('main')?.getBoundingClientRect().left ?? 0;
  const columns = [right, (start + margin + right) / 2, start + margin].map((left) =>
    Math.max(margin / 2, left),
  );
  for (let top = innerHeight - margin - height; top >= margin / 2; top -= step) {
    const left = columns.find((one) => boxes.every((box) => isApart(box, one, top, width, height)));
    if (left !== undefined) return { left, top };
  }
  return undefined;
}

const isApart = (box: Box, left: number, top: number, width: number, height: number) =>
  box.right <= left || box.left >= left + width || box.bottom <= top || box.top >= top + height;
