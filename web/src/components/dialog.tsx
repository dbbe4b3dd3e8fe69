import {
  createContext,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { rememberLost } from '../api/lost-responses.ts';
import { useAction } from './action-button.tsx';
import { Button, type ButtonProps } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { useReturnFocus } from './focus.ts';
import { currentPlace, type Place, useLeaveWarning } from './leave-warning.ts';
import { Loading } from './loading.tsx';
import { rejectNotChosen } from './picker-input.tsx';
import { isComposing } from './use-shortcut.ts';

type Props = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Can't be closed while an operation runs in it. */
  isLocked?: boolean;
  /** Closed only by a button in it, because its content can't be shown again. */
  isPinned?: boolean;
};

/** What a form needs of the dialog around it. */
const DialogContext = createContext({
  setDirty: (_isDirty: boolean) => {},
  /** Closes the dialog, or asks first when changes would be lost. */
  requestClose: undefined as (() => void) | undefined,
});

/** Makes the dialog ask before it closes. Returns the function that closes it. */
export function useUnsavedChanges(isDirty: boolean): (() => void) | undefined {
  const { setDirty, requestClose } = useContext(DialogContext);
  // Before the next event: a key that closes the dialog may follow the text at once.
  useLayoutEffect(() => {
    setDirty(isDirty);
    return () => setDirty(false);
  }, [isDirty, setDirty]);
  return requestClose;
}

/** A modal dialog. Escape closes it, unless changes would be lost, and returns the focus to where it was before. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  isLocked = false,
  isPinned = false,
}: Props) {
  /** The page with unsaved changes. */
  const unsaved = useRef<Place | undefined>(undefined);
  const [isAsking, setAsking] = useState(false);
  const requestClose = () => (unsaved.current ? setAsking(true) : onClose());
  const setDirty = useCallback((isDirty: boolean) => {
    unsaved.current = isDirty ? (unsaved.current ?? currentPlace()) : undefined;
  }, []);
  const isClosable = !isLocked && !isPinned;
  useLeaveWarning(unsaved, requestClose);
  const dialog = useRef<HTMLElement>(null);
  useSubmitShortcut(dialog);
  useReturnFocus();
  useEffect(rememberLost, []);
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={isClosable}
      isKeyboardDismissDisabled={!isClosable}
      onOpenChange={(open) => open || requestClose()}
    >
      <Modal className={wide ? 'modal wide' : 'modal'}>
        <AriaDialog className="dialog" ref={dialog}>
          <header>
            <Heading slot="title">{title}</Heading>
            {!isPinned && (
              <Button
                plain
                small
                icon="close"
                aria-label="Close"
                isDisabled={isLocked}
                onPress={requestClose}
              />
            )}
          </header>
          <DialogContext value={{ setDirty, requestClose }}>{children}</DialogContext>
          {isAsking && <Discard onKeep={() => setAsking(false)} onDiscard={onClose} />}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Ctrl+Enter, or ⌘+Enter, presses the main button. */
function useSubmitShortcut(dialog: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = dialog.current;
    const submit = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat || isComposing(event))
        return;
      const button = [...(element?.querySelectorAll('footer .button:is(.primary, .danger)') ?? [])].at(-1);
      if (!(button instanceof HTMLElement) || button.matches(':disabled')) return;
      event.preventDefault();
      button.click();
    };
    element?.addEventListener('keydown', submit);
    return () => element?.removeEventListener('keydown', submit);
  }, [dialog]);
}

/** In place of a dialog whose code or data loads. */
export const DialogLoading = ({ title = 'Loading…', onClose }: { title?: string; onClose: () => void }) => (
  <Dialog title={title} onClose={onClose}>
    <div className="dialog-body">
      <Loading />
    </div>
  </Dialog>
);

/** Asks before changes are lost. */
export const Discard = ({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) => (
  <ModalOverlay className="overlay" isOpen onOpenChange={(open) => open || onKeep()}>
    <Modal className="modal">
      <AriaDialog className="dialog" role="alertdialog">
        <header>
          <Heading slot="title">Discard changes?</Heading>
        </header>
        <div className="dialog-body">
          <p>What you entered hasn't been saved.</p>
        </div>
        <footer>
          <Button autoFocus onPress={onKeep}>
            Keep editing
          </Button>
          <Button danger onPress={onDiscard}>
            Discard
          </Button>
        </footer>
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
  /** Shows something else after the action. */
  staysOpen?: boolean;
};

/** Asks for confirmation before an action that can't be undone. */
export function Confirm({
  action,
  act,
  danger,
  isDisabled = false,
  staysOpen = false,
  children,
  ...dialog
}: Confirmation) {
  const [error, setError] = useState<Error>();
  const { isBusy, run } = useAction(setError);
  const body = useRef<HTMLDivElement>(null);
  const confirm = async () => {
    if (rejectNotChosen(body.current)) return;
    setError(undefined);
    await act();
    if (!staysOpen) dialog.onClose();
  };
  return (
    <Dialog {...dialog}>
      <div className="dialog-body" ref={body}>
        {children}
        {error && <ErrorNotice error={error} />}
      </div>
      <footer>
        <Button onPress={dialog.onClose}>Cancel</Button>
        <Button
          primary={!danger}
          danger={danger}
          isPending={isBusy}
          isDisabled={isDisabled}
          onPress={() => run(confirm)}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
