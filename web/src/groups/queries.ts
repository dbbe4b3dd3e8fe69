import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Group } from '../api/openapi.ts';

/** Reads all groups, since a tree needs every node. */
export function useGroups() {
  return useQuery({
    queryKey: ['groups'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/groups'))).data,
  });
}

export const useGroup = (id: string | null) =>
  useQuery({
    queryKey: ['group', id],
    enabled: id !== null,
    queryFn: () => dataOrThrow(api.GET('/v1/groups/{id}', { params: { path: { id: id ?? '' } } })),
  });

/** The groups above a group, from the root down to its parent. */
export function useAncestors({ parent_id }: Group): Group[] {
  const { data: groups = [] } = useGroups();
  const byId = new Map(groups.map((group) => [group.id, group]));
  const above: Group[] = [];
  for (let next = byId.get(parent_id ?? ''); next; next = byId.get(next.parent_id ?? '')) {
    above.unshift(next);
    // Ends the loop even if there is a cycle.
    byId.delete(next.id);
  }
  return above;
}

export type Branch = Group & { depth: number; children: Branch[] };

/** The groups as a tree. A group whose parent is not visible is a root. */
export function buildTree(groups: readonly Group[]): Branch[] {
  const ids = new Set(groups.map(({ id }) => id));
  const byParent = Map.groupBy(groups, ({ parent_id }) =>
    parent_id !== null && ids.has(parent_id) ? parent_id : null,
  );
  const branches = (parent: string | null, depth: number): Branch[] =>
    (byParent.get(parent) ?? []).map((group) => ({
      ...group,
      depth,
      children: branches(group.id, depth + 1),
    }));
  return branches(null, 0);
}
