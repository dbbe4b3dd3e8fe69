import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.ts';
import type { Group } from '../api/openapi.ts';

/** All of them: a tree needs its every branch. */
export function useGroups() {
  return useQuery({
    queryKey: ['groups'],
    queryFn: async () => (await answerOf(api.GET('/v1/groups'))).data,
  });
}

export type Branch = Group & { depth: number; children: Branch[] };

/** The groups under each other, by name; one whose parent is out of sight stands at the top. */
export function treeOf(groups: readonly Group[]): Branch[] {
  const ids = new Set(groups.map(({ id }) => id));
  const below = Map.groupBy(groups, ({ parent_id }) =>
    parent_id !== null && ids.has(parent_id) ? parent_id : null,
  );
  const branches = (parent: string | null, depth: number): Branch[] =>
    (below.get(parent) ?? []).map((group) => ({ ...group, depth, children: branches(group.id, depth + 1) }));
  return branches(null, 0);
}
