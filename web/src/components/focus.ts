import type { FocusEvent } from 'react';

/** The last focused element of the page, and the row it was in. */
let last: { element: Element; rowIndex: string | undefined } | undefined;

export function rememberFocus({ target, currentTarget }: FocusEvent<HTMLElement>): void {
  const element = target as HTMLElement;
  // React also reports the focus in dialogs, which are outside the page in the DOM.
  if (!currentTarget.contains(element)) return;
  last = { element, rowIndex: element.closest('tr')?.ariaRowIndex ?? undefined };
}

/**
 * When the focused element has been removed, focuses the row that took its place, or else the page. Otherwise the next
 * Tab would start at the top.
 */
export function restoreFocus(): void {
  if (!last || last.element.isConnected || document.activeElement !== document.body) return;
  const row = last.rowIndex && document.querySelector(`#main tr[aria-rowindex="${last.rowIndex}"] a`);
  const target = row || document.getElementById('main');
  (target as HTMLElement | null)?.focus({ preventScroll: true });
}
