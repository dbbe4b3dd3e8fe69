import { useEffect, useRef } from 'react';

/** Whether shortcuts use ⌘ in place of Ctrl. */
export const isApple = /Mac|iP(hone|ad)/.test(navigator.platform);

/**
 * Whether a key belongs to the composition of a character, as in Japanese: Enter accepts it and Escape gives it up, nothing
 * else. Safari reports the key that ends a composition only by its number.
 */
export const isComposing = ({ isComposing, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>) =>
  isComposing || keyCode === 229;

/**
 * Runs an action on a single key, or on one with Ctrl such as `Ctrl+z` (on Apple ⌘), except while the user types or a dialog, menu or popover is open. The action returns
 * whether it handles the key; with `false` it leaves the key to others. Shortcuts that listen on the body come after
 * those of the page, and those that listen on the window before.
 */
export function useShortcut(
  key: string,
  act: () => boolean,
  target: HTMLElement | Window = document.documentElement,
): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const listen = (pressed: Event) => {
      const event = pressed as KeyboardEvent;
      if (nameOf(event) !== key || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector('.overlay, .popover, .sign-in')) return;
      if (!latest.current()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    // While the event travels down, before a tree takes the letter for the name of a row.
    target.addEventListener('keydown', listen, { capture: true });
    return () => target.removeEventListener('keydown', listen, { capture: true });
  }, [key, target]);
}

function nameOf(event: KeyboardEvent): string {
  const { ctrlKey, metaKey } = event;
  const key = keyOf(event);
  return (isApple ? metaKey : ctrlKey) ? `Ctrl+${key}` : ctrlKey || metaKey ? '' : key;
}

type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>;

/** The key of a shortcut. On a layout without Latin letters, such as a Cyrillic one, by its place on the keyboard. */
export function keyOf({ key, code, shiftKey }: Pressed): string {
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (!letter || key.length !== 1 || key < '\x80') return key;
  return shiftKey ? letter : letter.toLowerCase();
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable], [data-finding]') !==
    null;
