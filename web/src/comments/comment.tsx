import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import type { Comment } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMe } from '../api/session.ts';
import { ActorLabel } from '../components/actor.tsx';
import { Button } from '../components/button.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { MarkdownText } from '../components/markdown-text.tsx';
import { toast } from '../components/toast.tsx';
import { formatTime } from '../format.ts';
import { CommentForm } from './comment-form.tsx';
import { useDraft } from './draft.ts';
import { toEditable } from './mentions.ts';
import { deleteComment, type Subject, showComment, updateComment } from './queries.ts';

type Props = {
  subject: Subject;
  comment: Comment;
  canWrite: boolean;
  /** Whether a link has led to this comment. */
  isLinked: boolean;
};

/** A comment in the timeline. Only its author can change its text here. */
export function CommentEntry({ subject, comment, canWrite, isLinked }: Props) {
  const me = useMe();
  const [isEditing, setEditing] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const refresh = useRefresh();
  useEffect(() => {
    if (!isLinked) return;
    // After the page, which scrolls to its top when it opens.
    const timer = setTimeout(() => {
      item.current?.focus({ preventScroll: true });
      item.current?.scrollIntoView({ block: 'center' });
    });
    return () => clearTimeout(timer);
  }, [isLinked]);
  const { author, created_at, edited_at, body, mentions } = comment;
  const isOwn = me.user_id === null ? author.key_id === me.key_id : author.user_id === me.user_id;
  const remove = async () => {
    await deleteComment(subject, comment);
    await refresh();
    toast('Comment deleted');
  };
  const closeEditor = () => {
    setEditing(false);
    // The editor, which had the focus, is gone.
    setTimeout(() => item.current?.querySelector('button')?.focus());
  };
  return (
    <li ref={item} className={isLinked ? 'comment linked' : 'comment'} tabIndex={isLinked ? -1 : undefined}>
      <article aria-label={`Comment by ${author.name}`}>
        <header>
          <ActorLabel actor={author} />
          <time className="quiet" dateTime={created_at}>
            {formatTime(created_at)}
          </time>
          {edited_at && (
            <span className="quiet" title={formatTime(edited_at)}>
              (edited)
            </span>
          )}
          {canWrite && !isEditing && (
            <span className="comment-actions no-print">
              {isOwn && (
                <Button small plain icon="edit" aria-label="Edit comment" onPress={() => setEditing(true)} />
              )}
              <DialogButton
                small
                plain
                icon="trash"
                aria-label="Delete comment"
                dialog={(onClose) => (
                  <Confirm title="Delete comment?" action="Delete" danger act={remove} onClose={onClose}>
                    <p>This can't be undone.</p>
                  </Confirm>
                )}
              />
            </span>
          )}
        </header>
        {isEditing ? (
          <Editor subject={subject} comment={comment} onClose={closeEditor} />
        ) : (
          <MarkdownText text={body} mentions={mentions} />
        )}
      </article>
    </li>
  );
}

type EditorProps = { subject: Subject; comment: Comment; onClose: () => void };

function Editor({ subject, comment, onClose }: EditorProps) {
  const client = useQueryClient();
  const refresh = useRefresh();
  const { id, body, mentions, version } = comment;
  const state = useDraft(id, { ...toEditable(body, mentions), version });
  const save = async (next: string, draft: { version: number }) => {
    try {
      showComment(client, subject, await updateComment(subject, id, next, draft.version));
    } catch (error) {
      // The refreshed list has the other version, which is shown below; saving again replaces it.
      if (error instanceof ApiError && error.status === 412) await refresh();
      throw error;
    }
    onClose();
    void refresh();
  };
  return (
    <CommentForm
      label="Edit comment"
      action="Save"
      autoFocus
      state={state}
      send={save}
      onCancel={onClose}
      conflict={{ content: <MarkdownText text={body} mentions={mentions} />, version }}
    />
  );
}
