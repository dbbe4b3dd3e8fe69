import { useState } from 'react';
import type { ItemList } from '../api/items.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { toast } from '../components/toast.tsx';
import { pluralize } from '../format.ts';
import { changeAll, failuresOf, restore } from './change.ts';
import { type BulkItem, type Changes, nouns } from './kinds.ts';
import { useIsAllowed } from './statuses.ts';

/** The words around the number of items: `Assigned 12 risks to Ada`. */
export type Done = readonly [verb: string, detail?: string];

export type BulkChange = ReturnType<typeof useBulkChange>;

/** Changes all items together, with Undo where the former statuses can be reached again. */
export function useBulkChange(kind: ItemList, items: readonly BulkItem[], onDone: () => void) {
  const refresh = useRefresh();
  const isAllowed = useIsAllowed(kind);
  const [isBusy, setBusy] = useState(false);
  const [failures, setFailures] = useState<ReturnType<typeof failuresOf>>();

  /** Returns whether the service made the change; otherwise `failures` has the reasons. */
  const apply = async (changes: Changes, [done, detail]: Done = ['Updated']): Promise<boolean> => {
    setBusy(true);
    try {
      const changed = await changeAll(kind, items, changes);
      const canUndo = changed.every(({ previous }) =>
        previous.status === undefined ? true : isAllowed(String(changes.status), String(previous.status)),
      );
      const undo = async () => {
        try {
          await restore(kind, changed);
        } finally {
          await refresh();
        }
      };
      await refresh();
      if (changed.length === 0) toast('Nothing to change');
      else {
        const counted = pluralize(changed.length, nouns[kind]);
        toast([done, counted, detail].filter(Boolean).join(' '), canUndo ? undo : undefined);
      }
      onDone();
      return true;
    } catch (error) {
      const refused = failuresOf(error);
      if (!refused) throw error;
      setFailures(refused);
      return false;
    } finally {
      setBusy(false);
    }
  };

  /** For a button outside of a form, which would show the error itself. */
  const applyNow = (changes: Changes, done?: Done) =>
    apply(changes, done).catch((error: Error) => {
      endSessionOn401(error);
      toast(errorLine(error));
    });

  return { apply, applyNow, isBusy, failures, clearFailures: () => setFailures(undefined) };
}
