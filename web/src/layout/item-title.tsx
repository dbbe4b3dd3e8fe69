import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ItemList } from '../api/items.ts';
import type { Issue, Risk, Task } from '../api/openapi.ts';
import { DeleteButton } from '../components/delete-button.tsx';
import { EditButton } from '../fields/edit-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { humanize } from '../format.ts';
import { useIsArchived } from '../projects/queries.ts';
import { ItemWalk } from '../walk/item-walk.tsx';
import { EditableTitle } from './editable-title.tsx';

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  /** What matters most about the item, under its title. */
  summary: ReactNode;
  actions?: ReactNode;
  /** The consequences, shown before the item is deleted. */
  children: ReactNode;
};

/** The heading of a risk, an issue or a task, with its edit and delete buttons. */
export function ItemTitle<Input extends { title?: string }, Item extends Risk | Issue | Task>({
  editor,
  summary,
  actions,
  children,
}: Props<Input, Item>) {
  const { item, list } = editor;
  const isArchived = useIsArchived(item.project_key);
  return (
    <>
      <EditableTitle
        editor={editor}
        name="title"
        title={item.title}
        summary={summary}
        walk={<ItemWalk list={list.slice(1) as ItemList} item={item} />}
        breadcrumbs={
          <>
            <Link href={list}>{humanize(list.slice(1))}</Link> /{' '}
            <Link href={`/projects/${item.project_key}`}>{item.project_name}</Link> / {item.key}
          </>
        }
      >
        {actions}
        {editor.canEdit && (
          <>
            <EditButton editor={editor} />
            <DeleteButton {...editor}>{children}</DeleteButton>
          </>
        )}
      </EditableTitle>
      {isArchived && (
        <p className="notice">
          <span>
            The project <Link href={`/projects/${item.project_key}`}>{item.project_name}</Link> is archived,
            so this is read-only.
          </span>
        </p>
      )}
    </>
  );
}
