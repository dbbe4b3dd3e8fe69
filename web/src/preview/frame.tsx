import { type ReactNode, useRef } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Issue, Risk, Task } from '../api/openapi.ts';
import { NewComment } from '../comments/new-comment.tsx';
import { TitleCell } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { isComposing } from '../components/use-shortcut.ts';
import { Description } from '../fields/description.tsx';
import type { Editor } from '../fields/editor.ts';
import { activityOf } from '../layout/item-page.tsx';
import { LatestComments } from './latest-comments.tsx';
import { usePreviewKey } from './use-preview-key.ts';

export type Keys = {
  onClose: () => void;
  /** Focuses the row of the item. */
  toRow: () => void;
  /** Focuses the next row. */
  toNext: () => void;
};

type Props<Input, Item> = Keys & {
  editor: Editor<Input, Item>;
  /** The field that `a` edits. */
  responsible: 'owner_user_id' | 'assignee_user_id';
  summary: ReactNode;
  children: ReactNode;
};

/** What all previews have: the title, the description, the comments, and the keys. */
export function PreviewFrame<
  Input extends { description?: string | null },
  Item extends Risk | Issue | Task,
>({ editor, responsible, summary, children, onClose, toRow, toNext }: Props<Input, Item>) {
  const panel = useRef<HTMLElement>(null);
  const { item, canEdit } = editor;
  const list = editor.list.slice(1) as ItemList;
  /** Whether the comment is sent with the keys that also show the next row. */
  const isNextDue = useRef(false);
  const find = (selector: string) => panel.current?.querySelector<HTMLElement>(selector);
  const press = (selector: string) => {
    const button = canEdit && find(selector);
    if (button) button.click();
    return Boolean(button);
  };
  const focus = (selector: string) => {
    const element = canEdit && find(selector);
    if (element) element.focus();
    return Boolean(element);
  };
  usePreviewKey('a', () => press(`[data-field=${responsible}]`));
  usePreviewKey('d', () => press('[data-field=due_on]'));
  usePreviewKey('s', () => press('[data-field=status]') || focus('[aria-labelledby=status] button'));
  usePreviewKey('c', () => focus('.comment-form textarea'));
  const { subject } = activityOf(list, item);
  return (
    <aside
      ref={panel}
      className="preview-panel no-print"
      aria-label={`Preview of ${item.key}`}
      onKeyDownCapture={({ key, ctrlKey, metaKey, shiftKey }) => {
        isNextDue.current = key === 'Enter' && (ctrlKey || metaKey) && shiftKey;
      }}
      onKeyDown={({ key, target, nativeEvent }) => {
        if (key !== 'Escape' || isComposing(nativeEvent)) return;
        // The draft stays.
        if ((target as Element).matches('.comment-form textarea')) toRow();
      }}
    >
      <header>
        <div>
          <h2>
            <TitleCell href={`/${list}/${item.key}`} title={item.title} project_name={item.project_name} />
          </h2>
          <div className="title-summary">{summary}</div>
        </div>
        <Button plain small icon="close" aria-label="Close preview" onPress={onClose} />
      </header>
      {children}
      <Description editor={editor} />
      <section className="card" aria-labelledby="preview-comments">
        <h2 id="preview-comments">Comments</h2>
        <LatestComments subject={subject} />
        {canEdit && (
          <NewComment
            subject={subject}
            hint="Ctrl+Shift+Enter sends and shows the next row."
            onSent={() => (isNextDue.current ? toNext() : toRow())}
          />
        )}
      </section>
    </aside>
  );
}
