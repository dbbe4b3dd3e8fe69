import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { onReplay } from '../api/lost-responses.ts';
import { endSessionOn401 } from '../api/session.ts';
import { createStore } from '../api/store.ts';
import { Button } from './button.tsx';
import { ConnectionNotice } from './connection-notice.tsx';
import { errorLine } from './error-text.ts';
import { returnFocus } from './focus.ts';

/** Why an Undo failed. */
export const changedSince = 'Someone else changed this since, so it was not undone.';

type Toast = { id: number; text: string; undo?: () => Promise<unknown> };

const shown = createStore<Toast | undefined>(undefined);

/** The changes that can be undone with the keyboard, also after their toasts are gone, and the pages they were made on. */
let undoable: readonly (Required<Toast> & { path: string })[] = [];
const maxUndoable = 50;

const forget = (id: number) => {
  undoable = undoable.filter((one) => one.id !== id);
};

let lastId = 0;

/** Follows what an action says of itself. */
const replayed = 'An earlier attempt had been saved, so nothing was saved twice.';
onReplay(() => toast(replayed));

function show(next: Toast | undefined): void {
  const hasFocus = document.activeElement?.closest('.toast');
  shown.set(next);
  if (hasFocus) setTimeout(returnFocus);
}

function dismiss(id: number): void {
  if (shown.get()?.id === id) show(undefined);
}

/**
 * Shows a short message, with an Undo button when the action can be undone. It replaces the last one, so that messages
 * never cover the page.
 */
export function toast(message: string, undo?: () => Promise<unknown>): void {
  const text = shown.get()?.text === replayed ? `${message}. ${replayed}` : message;
  // Several requests can fail at once with the same message.
  if (shown.get()?.text === text && !undo) return;
  lastId += 1;
  if (undo)
    undoable = [...undoable.slice(1 - maxUndoable), { id: lastId, text, undo, path: location.pathname }];
  show({ id: lastId, text, ...(undo && { undo }) });
}

export function ToastRegion() {
  const one = shown.use();
  return (
    // An open dialog neither hides it nor is closed by a click in it.
    <div className="toasts" role="status" data-react-aria-top-layer="true">
      <ConnectionNotice />
      {one && <ToastBox key={one.id} {...one} />}
    </div>
  );
}

/** Returns a function that undoes the last change on the page, and returns whether there was one. */
export function useUndoLast(): () => boolean {
  const run = useUndo();
  return () => {
    const last = undoable.findLast(({ path }) => path === location.pathname);
    if (!last) return false;
    forget(last.id);
    dismiss(last.id);
    void run(last.undo, `Undone: ${last.text}`).then((canRetry) => {
      if (canRetry) undoable = [...undoable, last];
    });
    return true;
  };
}

/** Undoes a change and says so. Returns whether it can be tried again. */
function useUndo() {
  const client = useQueryClient();
  return async (undo: () => Promise<unknown>, done: string): Promise<boolean> => {
    const before = lastId;
    try {
      await undo();
      // Some say themselves what they have returned.
      if (lastId === before) toast(done);
      return false;
    } catch (error) {
      endSessionOn401(error);
      const isStale = error instanceof ApiError && error.status === 412;
      toast(isStale ? changedSince : errorLine(error));
      if (isStale) void client.invalidateQueries();
      // Without a connection or a session it was not refused, so it can be tried again.
      return error instanceof ApiError && [0, 401, 429, 503].includes(error.status);
    }
  };
}

function ToastBox({ id, text, undo }: Toast) {
  const [isHeld, setHeld] = useState(false);
  const [isUndoing, setUndoing] = useState(false);
  const run = useUndo();
  useEffect(() => {
    if (isHeld || isUndoing) return;
    const timer = setTimeout(() => dismiss(id), undo ? 15_000 : 6000);
    return () => clearTimeout(timer);
  }, [id, undo, isHeld, isUndoing]);
  const runUndo = async () => {
    if (!undo) return;
    setUndoing(true);
    if (await run(undo, 'Undone')) return setUndoing(false);
    forget(id);
    dismiss(id);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it stays while the pointer or the focus is in it
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{isUndoing ? 'Undoing…' : text}</span>
      {undo && (
        <Button small plain isPending={isUndoing} onPress={runUndo}>
          Undo
        </Button>
      )}
      <Button small plain icon="close" aria-label="Dismiss" onPress={() => dismiss(id)} />
    </div>
  );
}
