import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useRefresh } from '../api/queries.ts';
import { Confirm, DialogButton } from './dialog.tsx';
import { toast } from './toast.tsx';

type Props = { name: string; list: string; remove: () => Promise<unknown>; children: ReactNode };

/** Deletes what a page is about, once that is confirmed, and goes to the list that it was in. */
export function DeleteButton({ name, list, remove, children }: Props) {
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const act = async () => {
    await remove();
    navigate(list);
    await refresh();
    toast(`${name} is deleted.`);
  };
  return (
    <DialogButton
      plain
      icon="trash"
      aria-label="Delete"
      dialog={(onClose) => (
        <Confirm title={`Delete ${name}?`} action="Delete" danger act={act} onClose={onClose}>
          <p>{children}</p>
        </Confirm>
      )}
    />
  );
}
