import type { ReactNode } from 'react';
import type { ItemList } from '../api/items.ts';
import { Activity } from '../comments/activity.tsx';
import { restorerOf } from '../comments/restore.ts';
import type { Editor } from '../fields/editor.ts';
import { useIsArchived } from '../projects/queries.ts';

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  main: ReactNode;
  side: ReactNode;
  activity: ReturnType<typeof activityOf>;
};

/** What an item is about, its details beside it, and its comments and changes below. */
export function ItemColumns<Input, Item extends object>(props: Props<Input, Item>) {
  const { editor, main, side, activity } = props;
  const isReadOnly = useIsArchived(activity.project);
  return (
    <div className="columns with-activity">
      <div className="stack">{main}</div>
      <div className="stack side">{side}</div>
      <Activity {...activity} isReadOnly={isReadOnly} restoreOf={restorerOf(editor)} />
    </div>
  );
}

type Item = { id: string; key: string; project_key: string };

/** Where the comments and changes of a risk, an issue or a task are in the API. */
export const activityOf = (list: ItemList, item: Item) => ({
  subject: { id: item.id, path: `/v1/projects/${item.project_key}/${list}/${item.key}` },
  project: item.project_key,
});
