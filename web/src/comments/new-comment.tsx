import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useRefresh } from '../api/queries.ts';
import { CommentForm } from './comment-form.tsx';
import { useDraft } from './draft.ts';
import { createComment, type Subject, showComment } from './queries.ts';
import './comments.css';

type Props = {
  subject: Subject;
  /** Follows what the form says about itself. */
  hint?: string;
  onSent?: () => void;
};

/** The form for the next comment. */
export function NewComment({ subject, hint, onSent }: Props) {
  const client = useQueryClient();
  const refresh = useRefresh();
  const [isAdded, setAdded] = useState(false);
  const state = useDraft(subject.id, { text: '', people: [], version: 0 });
  return (
    <>
      <CommentForm
        label="Write a comment"
        action="Comment"
        state={state}
        {...(hint && { hint })}
        send={async (body, { idempotencyKey }) => {
          setAdded(false);
          showComment(client, subject, await createComment(subject, body, idempotencyKey));
          setAdded(true);
          onSent?.();
          void refresh();
        }}
      />
      {/* The comment itself is seen; a toast would cover the form on a phone. */}
      <span className="visually-hidden" role="status">
        {isAdded && 'Comment added'}
      </span>
    </>
  );
}
