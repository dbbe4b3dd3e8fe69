import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useRefresh } from '../api/queries.ts';
import { Confirm, DialogButton } from './dialog.tsx';
import { toast } from './toast.tsx';
import { useOpened } from './use-conflict.ts';

type Props = { name: string; list: string; remove: () => Promise<unknown>; children: ReactNode };

/** Asks for confirmation, deletes the item of the current page and opens its list. */
export const DeleteButton = (props: Props) => (
  <DialogButton
    plain
    icon="trash"
    aria-label="Delete"
    dialog={(onClose) => <DeleteDialog {...props} onClose={onClose} />}
  />
);

function DeleteDialog({
  name,
  list,
  remove: removeLive,
  children,
  onClose,
}: Props & { onClose: () => void }) {
  const { item: remove } = useOpened(removeLive);
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const confirmDelete = async () => {
    await remove();
    navigate(list);
    await refresh();
    toast(`Deleted ${name}`);
  };
  return (
    <Confirm title={`Delete ${name}?`} action="Delete" danger act={confirmDelete} onClose={onClose}>
      <p>{children}</p>
    </Confirm>
  );
}
