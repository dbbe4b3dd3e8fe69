import { type RefObject, useEffect } from 'react';

/** An entry of the browser's history. Its index is 0 in browsers that do not report it. */
export type Place = { href: string; index: number };

export const currentPlace = (): Place => ({
  href: location.href,
  index: 'navigation' in window ? (window.navigation.currentEntry?.index ?? 0) : 0,
});

const listeners = new Set<(event: PopStateEvent) => void>();

// This must run before the router's listener, which the first component adds.
addEventListener('popstate', (event) => {
  for (const listener of listeners) listener(event);
});

type Guard = (leave: () => void) => boolean;

const guards = new Set<Guard>();

/** Leaves the page by a link or a command, unless it asks first. Passed to the router. */
export const leavePage = (leave: () => void): void => {
  if ([...guards].every((mayLeave) => mayLeave(leave))) leave();
};

/** Makes a page ask before it is left by a link: `ask` gets what leaves it. */
export function useLinkWarning(
  unsaved: RefObject<Place | undefined>,
  ask: (leave: () => void) => void,
): void {
  useEffect(() => {
    const mayLeave = (leave: () => void) => {
      if (unsaved.current) ask(leave);
      return !unsaved.current;
    };
    guards.add(mayLeave);
    return () => void guards.delete(mayLeave);
  });
}

/**
 * Asks before a page with unsaved changes is left. `unsaved` is the page, or undefined without changes.
 * For another site, or a reload, the browser itself asks. On Back and Forward the browser has already changed the URL, so
 * this returns to the page without the router, then asks.
 */
export function useLeaveWarning(unsaved: RefObject<Place | undefined>, ask: () => void): void {
  useEffect(() => {
    const warnOnUnload = (event: BeforeUnloadEvent) => unsaved.current && event.preventDefault();
    const warnOnBack = (event: PopStateEvent) => {
      if (!unsaved.current) return;
      event.stopImmediatePropagation();
      const { href, index } = currentPlace();
      if (href === unsaved.current.href) ask();
      // Where the browser does not report the direction, it is likely to be Back.
      else history.go(unsaved.current.index - index || 1);
    };
    addEventListener('beforeunload', warnOnUnload);
    listeners.add(warnOnBack);
    return () => {
      removeEventListener('beforeunload', warnOnUnload);
      listeners.delete(warnOnBack);
    };
  });
}
