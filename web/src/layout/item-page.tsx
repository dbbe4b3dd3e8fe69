import type { ReactNode } from 'react';
import { Activity } from '../comments/activity.tsx';
import type { TimelineProps } from '../comments/timeline.tsx';

type Props = { main: ReactNode; side: ReactNode; activity: TimelineProps };

/** What an item is about, its details beside it, and its comments and changes below. */
export const ItemColumns = ({ main, side, activity }: Props) => (
  <div className="columns with-activity">
    <div className="stack">{main}</div>
    <div className="stack side">{side}</div>
    <Activity {...activity} />
  </div>
);

type Item = { id: string; key: string; project_key: string };

/** Where the comments and changes of a risk, an issue or a task are in the API. */
export const activityOf = (list: 'risks' | 'issues' | 'tasks', item: Item): TimelineProps => ({
  subject: { id: item.id, path: `/v1/projects/${item.project_key}/${list}/${item.key}` },
  project: item.project_key,
});
