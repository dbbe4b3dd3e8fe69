import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'muster-theme';

const storedTheme = () => (localStorage.getItem(storageKey) ?? 'system') as Theme;

/** `system` follows the operating system; `light` and `dark` override it. */
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
