import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';

type Props = { project: string; list: 'risks' | 'issues' | 'tasks'; id: string };

/** Links to the risk, the issue or the task with an id. */
export function ItemLink({ project, list, id }: Props) {
  const { data } = useQuery({
    queryKey: ['item', list, id],
    queryFn: async () => {
      const params = { path: { project_id: project, id } };
      const { key, title } = await dataOrThrow<{ key: string; title: string }>(
        api.GET(`/v1/projects/{project_id}/${list}/{id}`, { params }),
      );
      return { key, title };
    },
  });
  if (!data) return null;
  return (
    <Link href={`/${list}/${data.key}`}>
      {data.key} <bdi>{data.title}</bdi>
    </Link>
  );
}

/** The address that an item was imported from. The service accepts only http and https. */
export const SourceLink = ({ url }: { url: string }) => (
  <a href={url} rel="noreferrer">
    {url.replace(/^https?:\/\//, '')}
  </a>
);
