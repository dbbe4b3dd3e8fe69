import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'muster-theme';

const storedTheme = () => (localStorage.getItem(storageKey) ?? 'system') as Theme;

/** `system` follows the reader's system; the others overrule it. */
export function applyTheme(theme = storedTheme()): void {
  document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  return [
    theme,
    (next) => {
      localStorage.setItem(storageKey, next);
      applyTheme(next);
      setTheme(next);
    },
  ];
}
