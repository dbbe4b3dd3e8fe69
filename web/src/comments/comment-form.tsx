import { type ReactNode, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { endSessionOn401, useHasScope } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Discard } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { isApple } from '../components/use-shortcut.ts';
import type { Draft, useDraft } from './draft.ts';
import { MentionBox } from './mention-box.tsx';
import { toBody } from './mentions.ts';

type Props = {
  label: string;
  action: string;
  /** In place of how to format the text. */
  hint?: string;
  state: ReturnType<typeof useDraft>;
  /** Sends the text. The draft stays unless it succeeds. */
  send: (body: string, draft: Draft) => Promise<unknown>;
  onCancel?: () => void;
  /** The comment as someone else has changed it meanwhile, if the service reports that. */
  conflict?: { content: ReactNode; version: number };
  autoFocus?: boolean;
};

/** Writes or edits a comment. */
export function CommentForm({
  label,
  action,
  hint,
  state,
  send,
  onCancel,
  conflict,
  autoFocus = false,
}: Props) {
  const { draft, isChanged, change, discard } = state;
  const [isAsking, setAsking] = useState(false);
  const canMention = useHasScope()('personnel.read');
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  // State changes only with the next render; two key presses can come before it.
  const isSending = useRef(false);
  const form = useRef<HTMLFormElement>(null);

  const submit = async (version = draft.version) => {
    const body = toBody(draft).trim();
    if (body === '') form.current?.querySelector('textarea')?.focus();
    if (isSending.current || body === '') return;
    isSending.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await send(body, { ...draft, version });
      discard();
    } catch (reason) {
      endSessionOn401(reason);
      setError(reason as Error);
    }
    isSending.current = false;
    setBusy(false);
  };

  const cancel = () => {
    discard();
    onCancel?.();
  };
  const requestCancel = () => (isChanged ? setAsking(true) : cancel());

  const conflictVersion = error instanceof ApiError && error.status === 412 ? conflict?.version : undefined;
  return (
    <form
      ref={form}
      className="comment-form no-print"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <MentionBox
        label={label}
        value={draft}
        onChange={(next) => {
          setError(undefined);
          change(next);
        }}
        onSubmit={() => submit()}
        {...(onCancel && { onCancel: requestCancel })}
        isInvalid={error !== undefined}
        // What is typed while a request is under way would not be in it.
        isReadOnly={isBusy}
        autoFocus={autoFocus}
      />
      {error && !conflictVersion && <ErrorNotice error={messageOf(error)} />}
      {conflictVersion && (
        <div className="notice" role="alert">
          <div>
            <p>Someone else changed this comment while you were editing:</p>
            {conflict?.content}
          </div>
          <Button small isPending={isBusy} onPress={() => submit(conflictVersion)}>
            Overwrite
          </Button>
        </div>
      )}
      <footer>
        <p className="hint">
          {canMention && '@ mentions a person. '}
          <span className="for-keyboards">{isApple ? '⌘' : 'Ctrl'}+Enter sends. </span>
          {hint ?? '**Bold**, *italic*, `code`, lists and links work.'}
        </p>
        {onCancel && (
          <Button small onPress={requestCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" small primary isPending={isBusy}>
          {action}
        </Button>
      </footer>
      {isAsking && <Discard onKeep={() => setAsking(false)} onDiscard={cancel} />}
    </form>
  );
}

/** The field has no other label to stand next to, so the details of the service are the message. */
function messageOf(error: Error): Error {
  const details = error instanceof ApiError ? error.fieldErrors.map(({ detail }) => detail) : [];
  return details.length > 0 ? new Error(details.join(' ')) : error;
}
