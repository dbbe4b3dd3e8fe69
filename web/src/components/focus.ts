import type { FocusEvent } from 'react';

/** The last focused element of the page, and the row and section it was in. */
let last: { element: HTMLElement; rowIndex: string | undefined; section: Element | null } | undefined;

export function rememberFocus({ target, currentTarget }: FocusEvent<HTMLElement>): void {
  const element = target as HTMLElement;
  // React also reports the focus in dialogs, which are outside the page in the DOM.
  if (!currentTarget.contains(element)) return;
  last = {
    element,
    rowIndex: element.closest('tr')?.ariaRowIndex ?? undefined,
    section: element.closest('section'),
  };
}

/**
 * When the focused element has been removed, focuses the row that took its place, or else its section, the box that
 * selects all rows, or the page. Otherwise the next Tab would start at the top.
 */
export function restoreFocus(): void {
  if (!last || last.element.isConnected || document.activeElement !== document.body) return;
  const row = last.rowIndex && document.querySelector(`#main tr[aria-rowindex="${last.rowIndex}"] a`);
  const inSection = last.section?.isConnected && last.section.querySelector('a, button');
  const selectAll = document.querySelector('#main th input');
  const target = row || inSection || selectAll || document.getElementById('main');
  (target as HTMLElement | null)?.focus({ preventScroll: true });
}

/** When the focused element was outside the page and has been removed, focuses the last one in the page. */
export function returnFocus(): void {
  if (document.activeElement !== document.body) return;
  if (last?.element.isConnected) last.element.focus({ preventScroll: true });
  else restoreFocus();
}
