import { useLayoutEffect, useRef, useState } from 'react';
import { Discard } from './dialog.tsx';
import { currentPlace, type Place, useLeaveWarning, useLinkWarning } from './leave-warning.ts';

/** Asks before a page whose changes are not in a dialog is left. */
export function UnsavedChanges({ isDirty }: { isDirty: boolean }) {
  const unsaved = useRef<Place | undefined>(undefined);
  const [leave, setLeave] = useState<() => void>();
  useLayoutEffect(() => {
    unsaved.current = isDirty ? (unsaved.current ?? currentPlace()) : undefined;
  }, [isDirty]);
  const ask = (next: () => void) => setLeave(() => next);
  useLeaveWarning(unsaved, () => ask(() => history.back()));
  useLinkWarning(unsaved, ask);
  if (!leave) return null;
  const discard = () => {
    unsaved.current = undefined;
    setLeave(undefined);
    leave();
  };
  return <Discard onKeep={() => setLeave(undefined)} onDiscard={discard} />;
}
