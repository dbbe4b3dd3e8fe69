import { useState } from 'react';
import { newIdempotencyKey } from '../api/lost-responses.ts';
import { actorId, useMe } from '../api/session.ts';
import { tabStorage } from '../api/storage.ts';
import type { EditableText } from './mentions.ts';

export type Draft = EditableText & {
  /** Sent with a new comment. A changed text is another comment, so it has another key. */
  idempotencyKey: string;
  /** The version of the comment that is edited; 0 for a new one. */
  version: number;
};

/**
 * A text that is being written. The browser tab keeps it until it is sent or discarded, so that a reload, another page or
 * the end of the session does not lose it.
 */
export function useDraft(id: string, initial: EditableText & { version: number }) {
  const storageKey = `muster-draft ${actorId(useMe())} ${id}`;
  const [draft, setDraft] = useState<Draft>(
    () => readDraft(storageKey) ?? { ...initial, idempotencyKey: newIdempotencyKey() },
  );
  const change = (next: EditableText) => {
    const changed = { ...draft, ...next, idempotencyKey: newIdempotencyKey() };
    setDraft(changed);
    if (next.text === initial.text) tabStorage.removeItem(storageKey);
    else tabStorage.setItem(storageKey, JSON.stringify(changed));
  };
  const discard = () => {
    tabStorage.removeItem(storageKey);
    setDraft({ ...initial, idempotencyKey: newIdempotencyKey() });
  };
  return { draft, isChanged: draft.text !== initial.text, change, discard };
}

function readDraft(storageKey: string): Draft | undefined {
  const stored = tabStorage.getItem(storageKey);
  return stored === null ? undefined : JSON.parse(stored);
}
