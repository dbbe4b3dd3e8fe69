import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useRefresh } from '../api/queries.ts';
import { Confirm, DialogButton } from './dialog.tsx';
import { toast } from './toast.tsx';

type Props = { name: string; list: string; remove: () => Promise<unknown>; children: ReactNode };

/** Asks for confirmation, deletes the item of the current page and opens its list. */
export function DeleteButton({ name, list, remove, children }: Props) {
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const confirmDelete = async () => {
    await remove();
    navigate(list);
    await refresh();
    toast(`Deleted ${name}`);
  };
  return (
    <DialogButton
      plain
      icon="trash"
      aria-label="Delete"
      dialog={(onClose) => (
        <Confirm title={`Delete ${name}?`} action="Delete" danger act={confirmDelete} onClose={onClose}>
          <p>{children}</p>
        </Confirm>
      )}
    />
  );
}
