import { type FocusEvent, useEffect } from 'react';

type Place = {
  element: HTMLElement;
  rowIndex: string | undefined;
  /** The list that it was in, and the position of its line. */
  list: Element | null;
  line: number;
  section: Element | null;
};

/** The last focused element of the page, and where it was. */
let last: Place | undefined;

export function rememberFocus({ target, currentTarget }: FocusEvent<HTMLElement>): void {
  const element = target as HTMLElement;
  // React also reports the focus in dialogs, which are outside the page in the DOM.
  if (!currentTarget.contains(element)) return;
  const line = element.closest('.work-rows > li');
  const list = line?.parentElement ?? null;
  last = {
    element,
    list,
    line: line && list ? [...list.children].indexOf(line) : -1,
    rowIndex: element.closest('tr')?.ariaRowIndex ?? undefined,
    section: element.closest('section'),
  };
}

/**
 * When the focused element has been removed, focuses the row or line that took its place, or else its section, the box that
 * selects all rows, or the page. Otherwise the next Tab would start at the top.
 */
export function restoreFocus(): void {
  if (!last || last.element.isConnected || document.activeElement !== document.body) return;
  const row = last.rowIndex && document.querySelector(`#main tr[aria-rowindex="${last.rowIndex}"] a`);
  const lines = last.list?.isConnected ? last.list.children : [];
  const line = lines[last.line] ?? lines[lines.length - 1];
  const inSection = last.section?.isConnected && last.section.querySelector('a, button');
  const selectAll = document.querySelector('#main th input');
  const target = row || line?.querySelector('a') || inSection || selectAll || document.getElementById('main');
  (target as HTMLElement | null)?.focus({ preventScroll: true });
}

/** When the focused element was outside the page and has been removed, focuses the last one in the page. */
export function returnFocus(): void {
  if (document.activeElement !== document.body) return;
  if (last?.element.isConnected) last.element.focus({ preventScroll: true });
  else restoreFocus();
}

/**
 * For a dialog. React Aria returns the focus, but not to an element that is gone, such as one in a dialog that this one
 * replaced when its code had loaded.
 */
export const useReturnFocus = () => useEffect(() => () => void setTimeout(returnFocus), []);
