import { useState } from 'react';
import { ApiError } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';
import { createStore } from '../api/store.ts';

/** The number of conflicts that were shown. */
const conflicts = createStore(0);

/**
 * Handles the rejection of a write because the item has changed since it was read: loads it again, so that a retry sends
 * the new version. Returns the error to show.
 */
export function useConflict() {
  const refresh = useRefresh();
  return async (error: unknown): Promise<Error> => {
    if (!(error instanceof ApiError) || error.status !== 412) return error as Error;
    await refresh();
    // Once the page has been told what was read.
    await new Promise((resolve) => setTimeout(resolve));
    conflicts.set(conflicts.get() + 1);
    return new Error('Someone else changed this. Check it, then try again.');
  };
}

/**
 * What a dialog is about, as it was when the dialog opened, whatever the page reads again meanwhile: what was chosen for
 * one version must not be sent with another. After a conflict it is the latest version, and `former` the one before.
 */
export function useOpened<Item>(live: Item): { item: Item; former?: Item } {
  const count = conflicts.use();
  const [held, setHeld] = useState<{ item: Item; former?: Item; count: number }>({ item: live, count });
  if (held.count === count) return held;
  const next = { item: live, former: held.item, count };
  setHeld(next);
  return next;
}
