import type { ReactNode } from 'react';
import { useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, type ButtonProps } from './button.tsx';
import { ProblemNotice } from './problem.tsx';

type Props = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** While something runs in it that must be seen to its end. */
  isHeld?: boolean;
};

/** Over the page until it is closed; Escape closes it, and the focus goes back to where it was. */
export const Dialog = ({ title, onClose, children, wide = false, isHeld = false }: Props) => (
  <ModalOverlay
    className="overlay"
    isOpen
    isDismissable={!isHeld}
    isKeyboardDismissDisabled={isHeld}
    onOpenChange={(open) => open || onClose()}
  >
    <Modal className={wide ? 'modal wide' : 'modal'}>
      <AriaDialog className="dialog">
        <header>
          <Heading slot="title">{title}</Heading>
          <Button plain small icon="close" aria-label="Close" isDisabled={isHeld} onPress={onClose} />
        </header>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

/** A button, and the dialog that it opens. */
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
  isBlocked?: boolean;
};

/** Asks before something that cannot be taken back. */
export function Confirm({ action, act, danger, isBlocked = false, children, ...dialog }: Confirmation) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await act();
      dialog.onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog {...dialog}>
      <div className="dialog-body">
        {children}
        {error !== undefined && <ProblemNotice error={error} />}
      </div>
      <footer>
        <Button onPress={dialog.onClose}>Cancel</Button>
        <Button primary={!danger} danger={danger} isPending={isBusy} isDisabled={isBlocked} onPress={run}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
