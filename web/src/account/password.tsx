import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Confirm, Dialog, DialogButton, useUnsavedChanges } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { errorsByField } from '../components/error-text.ts';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { TextField } from '../sign-in/text-field.tsx';
import { useAttempt } from '../sign-in/use-attempt.ts';
import { withRecentSignIn } from './recent-sign-in.tsx';

export function PasswordCard() {
  const me = useMe();
  const refresh = useRefresh();
  const query = useQuery({
    queryKey: ['account', 'access'],
    queryFn: () => dataOrThrow(api.GET('/v1/me/access')),
  });
  const remove = async () => {
    await withRecentSignIn(() => dataOrThrow(api.DELETE('/v1/me/password')));
    await refresh();
    toast('Removed password');
  };
  return (
    <Card id="password" title="Password">
      <p>A new password ends your other sessions.</p>
      <Loaded query={query}>
        {({ ways }) => (
          <div className="button-row">
            <DialogButton
              dialog={(onClose) => (
                <Dialog title="Choose password" onClose={onClose}>
                  <PasswordForm
                    needsCurrent={ways.includes('password') && me.session?.way !== 'passkey'}
                    onClose={onClose}
                  />
                </Dialog>
              )}
            >
              Choose password
            </DialogButton>
            {ways.includes('password') && ways.length > 1 && (
              <DialogButton
                dialog={(onClose) => (
                  <Confirm
                    title="Remove your password?"
                    action="Remove"
                    danger
                    act={remove}
                    onClose={onClose}
                  >
                    <p>You can't sign in with it any more. Other sessions that began with it end.</p>
                  </Confirm>
                )}
              >
                Remove password
              </DialogButton>
            )}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function PasswordForm({ needsCurrent, onClose }: { needsCurrent: boolean; onClose: () => void }) {
  const me = useMe();
  const refresh = useRefresh();
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const [missing, setMissing] = useState<ReadonlyMap<string, string>>(new Map());
  const { error, isBusy, run } = useAttempt();
  const form = useRef<HTMLFormElement>(null);
  const requestClose = useUnsavedChanges(password !== '');
  const errors = missing.size > 0 ? missing : errorsByField(error, []);
  const errorText = [...errors.values()].join();
  useEffect(() => {
    if (errorText) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [errorText]);
  const save = async () => {
    try {
      const body = { password, ...(needsCurrent && { current_password: current }) };
      await withRecentSignIn(() => dataOrThrow(api.PUT('/v1/me/password', { body })));
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
    const blank = new Map<string, string>();
    if (needsCurrent && current === '') blank.set('current_password', 'Current password is required.');
    if (password === '') blank.set('password', 'Password is required.');
    setMissing(blank);
    if (blank.size === 0) void run(save);
  };
  return (
    <form ref={form} className="form" noValidate onSubmit={send}>
      <div className="dialog-body">
        {error && !errors.has('password') && !errors.has('current_password') && <ErrorNotice error={error} />}
        <input hidden readOnly autoComplete="username" value={me.email ?? ''} />
        {needsCurrent && (
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            hint="Forgotten? Sign in with a passkey, or ask your administrator for a new link."
            autoFocus
            error={errors.get('current_password')}
            value={current}
            onChange={setCurrent}
          />
        )}
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="At least 15 characters. A sentence is easy to remember."
          autoFocus={!needsCurrent}
          error={errors.get('password')}
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
