import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'muster-theme';
const listeners = new Set<() => void>();

const storedTheme = () => (localStorage.getItem(storageKey) ?? 'system') as Theme;

/** `system` follows the operating system; `light` and `dark` override it. */
export function applyTheme(theme = storedTheme()): void {
  document.documentElement.dataset.theme = theme;
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme);
  applyTheme(theme);
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = () => useSyncExternalStore(subscribe, storedTheme);
