import { useSyncExternalStore } from 'react';
import { browserStorage } from '../api/storage.ts';
import type { Filters } from '../components/filters.tsx';
import { announceStored, followStorage } from '../components/follow-storage.ts';

/** The lists that have views. Each name is the path of the list. */
export type ViewList = 'risks' | 'issues' | 'tasks' | 'projects' | 'personnel';

/** The filters, the order and the columns of a list under a name, private to the browser. */
export type View = { id: string; list: ViewList; name: string; query: string };

const storageKey = 'muster-views';

const maxViews = 50;

let text: string | null = null;
let views: readonly View[] = [];

/** Returns the same array until the stored views change, as React requires. */
function readViews(): readonly View[] {
  const stored = browserStorage.getItem(storageKey);
  if (stored !== text) {
    text = stored;
    views = parseViews(stored);
  }
  return views;
}

/** Ignores what another version of the console may have stored. */
function parseViews(stored: string | null): View[] {
  try {
    const parsed: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(parsed) ? parsed.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (value: unknown): value is View =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'list', 'name', 'query'].every((name) => typeof (value as Filters)[name] === 'string');

function writeViews(next: readonly View[]): void {
  browserStorage.setItem(storageKey, JSON.stringify(next));
  announceStored();
}

/** The private views of all lists. */
export const usePrivateViews = () => useSyncExternalStore(followStorage, readViews);

/** The same filters always have the same text, in whatever order they were set. */
export const queryOf = (filters: Filters): string => {
  const params = new URLSearchParams(filters);
  params.sort();
  return params.toString();
};

export function saveView(list: ViewList, name: string, filters: Filters): void {
  rejectName(list, name);
  const id = `${Date.now()}-${Math.random()}`;
  writeViews([...readViews(), { id, list, name, query: queryOf(filters) }]);
}

export function renameView({ id, list }: View, name: string): void {
  rejectName(list, name, id);
  writeViews(readViews().map((view) => (view.id === id ? { ...view, name } : view)));
}

/** Returns a function that restores the view. */
export function deleteView(view: View): () => void {
  writeViews(readViews().filter(({ id }) => id !== view.id));
  return () => writeViews([...readViews(), view]);
}

function rejectName(list: ViewList, name: string, id?: string): void {
  const others = readViews().filter((view) => view.list === list && view.id !== id);
  if (others.some((view) => view.name === name)) {
    throw new Error('There is a view with this name. Choose another name.');
  }
  if (others.length >= maxViews) {
    throw new Error(`You have ${maxViews} views of this list. Delete one of them first.`);
  }
}
