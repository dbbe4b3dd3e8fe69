import { useEffect, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import type { Me } from '../api/openapi.ts';
import { resumeSession, sessionItem, signIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { PanelBox } from './panel.tsx';
import { SignInWays } from './sign-in-ways.tsx';

type Props = { message: string | undefined; me: Me };

/** Covers the page when the session has ended by itself. Open forms stay as they are. */
export function SignInAgain({ message, me }: Props) {
  useSignInElsewhere(resumeSession);
  return (
    <Overlay>
      <PanelBox title="Sign in to continue">
        {message && (
          <p className="notice" role="alert">
            {message}
          </p>
        )}
        <p>What you entered is still here.</p>
        <SignInWays signIn={signIn} me={me} isInDialog />
      </PanelBox>
    </Overlay>
  );
}

type ConfirmProps = { me: Me; onConfirmed: () => void; onCancel: () => void };

/** Asks a person to sign in again before they change how they sign in. */
export function ConfirmSignIn({ me, onConfirmed, onCancel }: ConfirmProps) {
  // The page may have read the new session before this dialog does.
  const [formerSession] = useState(me.session?.id);
  useSignInElsewhere(async () => {
    const latest = await resumeSession();
    if (latest?.session && latest.session.id !== formerSession) onConfirmed();
  });
  return (
    <Overlay onCancel={onCancel}>
      <PanelBox title="Confirm that it's you">
        <p>You signed in more than 15 minutes ago. Sign in again to continue.</p>
        <SignInWays signIn={(input) => signIn(input).then(onConfirmed)} me={me} isForPerson isInDialog />
        <Button onPress={onCancel}>Cancel</Button>
      </PanelBox>
    </Overlay>
  );
}

const Overlay = ({ children, onCancel }: { children: React.ReactNode; onCancel?: () => void }) => (
  <ModalOverlay
    className="sign-in again"
    isOpen
    isKeyboardDismissDisabled={!onCancel}
    onOpenChange={(open) => open || onCancel?.()}
  >
    <Modal>
      <Dialog aria-label="Sign in">{children}</Dialog>
    </Modal>
  </ModalOverlay>
);

/** Calls back when the user returns to this tab, or signs in in another one beside it. */
function useSignInElsewhere(check: () => Promise<unknown>): void {
  useEffect(() => {
    const checkVisible = () => void (document.hidden || check());
    const followSignIns = ({ key }: StorageEvent) => void (key === sessionItem && check());
    document.addEventListener('visibilitychange', checkVisible);
    addEventListener('storage', followSignIns);
    return () => {
      document.removeEventListener('visibilitychange', checkVisible);
      removeEventListener('storage', followSignIns);
    };
  });
}
