import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Dialog, DialogButton, useUnsavedChanges } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { errorsByField } from '../components/error-text.ts';
import { toast } from '../components/toast.tsx';
import { TextField } from '../sign-in/text-field.tsx';
import { useAttempt } from '../sign-in/use-attempt.ts';
import { withRecentSignIn } from './recent-sign-in.tsx';

export const PasswordCard = () => (
  <Card id="password" title="Password">
    <p>A new password ends your other sessions.</p>
    <div className="button-row">
      <DialogButton
        dialog={(onClose) => (
          <Dialog title="Choose password" onClose={onClose}>
            <PasswordForm onClose={onClose} />
          </Dialog>
        )}
      >
        Choose password
      </DialogButton>
    </div>
  </Card>
);

function PasswordForm({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const refresh = useRefresh();
  const [password, setPassword] = useState('');
  const [missing, setMissing] = useState<string>();
  const { error, isBusy, run } = useAttempt();
  const form = useRef<HTMLFormElement>(null);
  const requestClose = useUnsavedChanges(password !== '');
  const fieldError = missing ?? errorsByField(error, []).get('password');
  useEffect(() => {
    if (fieldError) form.current?.querySelector<HTMLElement>('input:not([hidden])')?.focus();
  }, [fieldError]);
  const save = async () => {
    try {
      await withRecentSignIn(() => dataOrThrow(api.PUT('/v1/me/password', { body: { password } })));
    } catch (reason) {
      endSessionOn401(reason);
      throw reason;
    }
    toast('Changed password');
    onClose();
    await refresh();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    setMissing(password === '' ? 'Password is required.' : undefined);
    if (password !== '') void run(save);
  };
  return (
    <form ref={form} className="form" noValidate onSubmit={send}>
      <div className="dialog-body">
        {error && fieldError === undefined && <ErrorNotice error={error} />}
        <input hidden readOnly autoComplete="username" value={me.email ?? ''} />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 15 characters. A sentence is easy to remember."
          autoFocus
          error={fieldError}
          value={password}
          onChange={setPassword}
        />
      </div>
      <footer>
        <Button onPress={requestClose ?? onClose}>Cancel</Button>
        <Button type="submit" primary isPending={isBusy}>
          Choose password
        </Button>
      </footer>
    </form>
  );
}
