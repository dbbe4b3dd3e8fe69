import { useShortcut } from '../components/use-shortcut.ts';

/** A shortcut of the open preview, before the same one of the list. What is selected has a bar with shortcuts of its own. */
export const usePreviewKey = (key: string, act: () => boolean): void =>
  useShortcut(key, () => document.querySelector('.bulk-bar') === null && act(), window);
