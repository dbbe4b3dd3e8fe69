import type { ReactNode } from 'react';
import { useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, type ButtonProps } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';

type Props = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Can't be closed while an operation runs in it. */
  isLocked?: boolean;
};

/** A modal dialog. Escape closes it and returns the focus to the element that opened it. */
export const Dialog = ({ title, onClose, children, wide = false, isLocked = false }: Props) => (
  <ModalOverlay
    className="overlay"
    isOpen
    isDismissable={!isLocked}
    isKeyboardDismissDisabled={isLocked}
    onOpenChange={(open) => open || onClose()}
  >
    <Modal className={wide ? 'modal wide' : 'modal'}>
      <AriaDialog className="dialog">
        <header>
          <Heading slot="title">{title}</Heading>
          <Button plain small icon="close" aria-label="Close" isDisabled={isLocked} onPress={onClose} />
        </header>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

/** A button that opens a dialog. */
export function DialogButton({
  dialog,
  ...button
}: ButtonProps & { dialog: (onClose: () => void) => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onPress={() => setOpen(true)} />
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

type Confirmation = Props & {
  action: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  isDisabled?: boolean;
};

/** Asks for confirmation before an action that can't be undone. */
export function Confirm({ action, act, danger, isDisabled = false, children, ...dialog }: Confirmation) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await act();
      dialog.onClose();
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  return (
    <Dialog {...dialog}>
      <div className="dialog-body">
        {children}
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
      <footer>
        <Button onPress={dialog.onClose}>Cancel</Button>
        <Button primary={!danger} danger={danger} isPending={isBusy} isDisabled={isDisabled} onPress={run}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
