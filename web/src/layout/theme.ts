import { browserStorage } from '../api/storage.ts';
import { createStore } from '../api/store.ts';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'muster-theme';

const theme = createStore((browserStorage.getItem(storageKey) ?? 'system') as Theme);

/** `system` follows the operating system; `light` and `dark` override it. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export function setTheme(next: Theme): void {
  browserStorage.setItem(storageKey, next);
  theme.set(next);
  applyTheme();
}

export const useTheme = theme.use;
