import type { ReactNode } from 'react';
import type { ItemList } from '../api/items.ts';
import { Activity } from '../comments/activity.tsx';
import { useIsArchived } from '../projects/queries.ts';

type Props = { main: ReactNode; side: ReactNode; activity: ReturnType<typeof activityOf> };

/** What an item is about, its details beside it, and its comments and changes below. */
export function ItemColumns({ main, side, activity }: Props) {
  const isReadOnly = useIsArchived(activity.project);
  return (
    <div className="columns with-activity">
      <div className="stack">{main}</div>
      <div className="stack side">{side}</div>
      <Activity {...activity} isReadOnly={isReadOnly} />
    </div>
  );
}

type Item = { id: string; key: string; project_key: string };

/** Where the comments and changes of a risk, an issue or a task are in the API. */
export const activityOf = (list: ItemList, item: Item) => ({
  subject: { id: item.id, path: `/v1/projects/${item.project_key}/${list}/${item.key}` },
  project: item.project_key,
});
