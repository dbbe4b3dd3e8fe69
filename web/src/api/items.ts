import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from './client.ts';

type Ref = { project: string; list: 'risks' | 'issues' | 'tasks'; id: string };
type Item = { key: string; title: string };

export const readItem = ({ project, list, id }: Ref): Promise<Item> =>
  dataOrThrow<Item>(
    api.GET(`/v1/projects/{project_id}/${list}/{id}`, { params: { path: { project_id: project, id } } }),
  );

/** The key and the title of an item that another one refers to by its id. */
export function useItem(project: string, list: Ref['list'], id: string | null): Item | undefined {
  const { data } = useQuery({
    queryKey: ['item', list, id],
    queryFn: async () => {
      const { key, title } = await readItem({ project, list, id: id ?? '' });
      return { key, title };
    },
    enabled: id !== null,
  });
  return data;
}

/** What a picker calls an item. */
export const itemName = ({ key, title }: Item) => `${key} ${title}`;
