import { useState } from 'react';
import type { ItemList } from '../api/items.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { toast } from '../components/toast.tsx';
import { pluralize } from '../format.ts';
import { changeAll, failuresOf, nameKeys, restore } from './change.ts';
import { type BulkItem, type Changes, nouns } from './kinds.ts';
import { useIsAllowed } from './statuses.ts';

/** The words around the number of items: `Assigned 12 risks to Ada`. */
export type Done = readonly [verb: string, detail?: string];

export type BulkChange = ReturnType<typeof useBulkChange>;

/**
 * Changes all items together, with Undo where the former statuses can be reached again. `gone` are the keys of items that
 * were selected and have left the list.
 */
export function useBulkChange(
  kind: ItemList,
  items: readonly BulkItem[],
  onDone: () => void,
  gone: readonly string[] = [],
) {
  const refresh = useRefresh();
  const isAllowed = useIsAllowed(kind);
  const [isBusy, setBusy] = useState(false);
  const [failures, setFailures] = useState<ReturnType<typeof failuresOf>>();

  /** Returns whether the service made the change; otherwise `failures` has the reasons. */
  const apply = async (
    changes: Changes,
    [done, detail]: Done = ['Updated'],
    sent: readonly BulkItem[] = items,
  ): Promise<boolean> => {
    setBusy(true);
    try {
      const changed = await changeAll(kind, sent, changes);
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
        const left = gone.length > 0 && `. Not changed, because they have left the list: ${nameKeys(gone)}`;
        const text = [done, counted, detail].filter(Boolean).join(' ');
        toast(left ? text + left : text, canUndo ? undo : undefined);
      }
      onDone();
      return true;
    } catch (error) {
      const refused = failuresOf(error);
      if (!refused) throw error;
      setFailures(refused);
      // The next attempt is about what the list shows by then.
      if (refused.listed.some(({ code }) => code === 'stale')) void refresh();
      return false;
    } finally {
      setBusy(false);
    }
  };

  /** For a button outside of a form, which would show the error itself. */
  const applyNow = (changes: Changes, done?: Done, sent?: readonly BulkItem[]) =>
    apply(changes, done, sent).catch((error: Error) => {
      endSessionOn401(error);
      toast(errorLine(error));
    });

  return { apply, applyNow, isBusy, failures, clearFailures: () => setFailures(undefined) };
}
