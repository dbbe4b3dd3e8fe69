import type { ItemList } from '../api/items.ts';
import type { Filters } from '../components/filters.tsx';
import type { Command } from './navigation.ts';
import type { Result } from './palette-search.ts';

type ListFilter = readonly [list: ItemList, name: string, filters: Filters];

const listFilters: readonly ListFilter[] = [
  ['risks', 'Risks with no owner', { unowned: 'true' }],
  ['risks', 'Overdue risks', { check: 'due_overdue' }],
  ['risks', 'Risks not assessed', { assessed: 'false' }],
  ['risks', 'Risks above appetite', { above_appetite: 'true' }],
  ['risks', 'Risks with a review overdue', { review_overdue: 'true' }],
  ['risks', 'Risks that moved up', { change: 'up' }],
  ['risks', 'New risks', { change: 'new' }],
  ['issues', 'Overdue issues', { overdue: 'true' }],
  ['issues', 'Unassigned issues', { unassigned: 'true' }],
  ['issues', 'Blocked issues', { status: 'blocked' }],
  ['tasks', 'Overdue tasks', { overdue: 'true' }],
  ['tasks', 'Unassigned tasks', { unassigned: 'true' }],
];

/** For whoever has signed in. */
const ownFilters: readonly ListFilter[] = [
  ['risks', 'My risks', { owner_user_id: 'me' }],
  ['issues', 'My issues', { assignee_user_id: 'me' }],
  ['tasks', 'My tasks', { assignee_user_id: 'me' }],
];

export type FilterCommand = Command & Result;

/** Commands that show a filtered list. In the list itself they add to its other filters. */
export function filterCommands(path: string, search: string, isPerson: boolean): FilterCommand[] {
  return [...(isPerson ? ownFilters : []), ...listFilters].map(([list, name, filters]) => {
    const isHere = path === `/${list}`;
    const params = new URLSearchParams(isHere ? search : '');
    for (const [filter, value] of Object.entries(filters)) params.set(filter, value);
    // Two filters that are set already lead to the same path.
    return {
      id: `filter ${name}`,
      path: `/${list}?${params}`,
      name,
      scope: 'projects.read' as const,
      isOnSearch: !isHere,
    };
  });
}
