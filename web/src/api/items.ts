import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow, ifMatch } from './client.ts';
import type { Issue, IssuePatch, Risk, RiskPatch, Task, TaskPatch } from './openapi.ts';
import { useWrite } from './queries.ts';

/** What a project contains, by the path of its list. */
type Items = {
  risks: { item: Risk; patch: RiskPatch };
  issues: { item: Issue; patch: IssuePatch };
  tasks: { item: Task; patch: TaskPatch };
};
export type ItemList = keyof Items;
export type ItemOf<List extends ItemList> = Items[List]['item'];
export type PatchOf<List extends ItemList> = Items[List]['patch'];

type Ref = { project_key: string; key: string };

/** The paths of the three lists differ only in the fields of their items. */
const pathOf = (list: ItemList) =>
  `/v1/projects/{project_id}/${list}/{id}` as '/v1/projects/{project_id}/tasks/{id}';

export const itemParams = ({ project_key, key }: Ref) => ({ path: { project_id: project_key, id: key } });

/** `APOLLO-R7` → `APOLLO`. */
export const projectKeyOf = (key: string) => key.replace(/-[A-Z]\d+$/, '');

/** Reads an item by its key or its id. */
export const readItem = <List extends ItemList>(list: List, ref: Ref) =>
  dataOrThrow(api.GET(pathOf(list), { params: itemParams(ref) })) as Promise<ItemOf<List>>;

export const useItem = <List extends ItemList>(list: List, project_key: string, key: string | null) =>
  useQuery({
    queryKey: ['item', list, key],
    queryFn: () => readItem(list, { project_key, key: key ?? '' }),
    enabled: key !== null,
  });

/** Updates an item unless it has changed since it was read, and refreshes the page. */
export function usePatchItem<List extends ItemList>(list: List) {
  const write = useWrite();
  return (item: ItemOf<List>, body: PatchOf<List>) =>
    write(
      api.PATCH(pathOf(list), { params: itemParams(item), body: body as TaskPatch, ...ifMatch(item) }),
    ) as Promise<ItemOf<List>>;
}

export const deleteItem = (list: ItemList, item: Ref & { version: number }) =>
  dataOrThrow(api.DELETE(pathOf(list), { params: itemParams(item), ...ifMatch(item) }));

/** What a picker calls an item. */
export const itemName = ({ key, title }: { key: string; title: string }) => `${key} ${title}`;
