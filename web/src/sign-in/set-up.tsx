import { useState } from 'react';
import { Redirect, useLocation } from 'wouter';
import { ApiError, api, dataOrThrow } from '../api/client.ts';
import { type InvitationAcceptance, meScopesValues } from '../api/openapi.ts';
import { canSetUp, endSessionOn401, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ChooseWay } from './choose.tsx';
import { enterWith, passkeyFor } from './invitation.tsx';
import { Panel } from './panel.tsx';
import { returnPath } from './return-path.ts';
import { TextField } from './text-field.tsx';

/** The first administrator signs in with a key, and then as a person. */
export function SetUp() {
  const me = useMe();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  if (!canSetUp(me)) return <Redirect to={returnPath()} replace />;

  const checkFields = () => {
    const found = new Map<string, string>();
    if (name.trim() === '') found.set('name', 'Name is required.');
    if (!/^[^@\s]+@[^@\s]+$/.test(email.trim())) found.set('email', 'Enter an email address.');
    return found;
  };
  const setUp = async (accept: (token: string) => Promise<InvitationAcceptance>) => {
    try {
      const token = await invite({ name: name.trim(), email: email.trim() });
      await enterWith(await accept(token), returnPath());
    } catch (error) {
      endSessionOn401(error);
      throw error;
    }
  };
  return (
    <Panel title="Set up your account">
      <p>
        Sign in as yourself from now on, so that everyone sees who changed what. You get full access. Keep the
        API key in a safe place: it is the way back in.
      </p>
      <ChooseWay
        email={email}
        checkFields={checkFields}
        setFieldErrors={setErrors}
        action="Create account"
        choosePassword={(password) => setUp(async (token) => ({ token, password }))}
        choosePasskey={() => setUp(async (token) => ({ token, passkey: await passkeyFor(token) }))}
      >
        <TextField
          label="Name"
          autoComplete="name"
          autoFocus
          error={errors.get('name')}
          value={name}
          onChange={setName}
        />
        <TextField
          label="Email"
          type="email"
          autoComplete="username"
          error={errors.get('email')}
          value={email}
          onChange={setEmail}
        />
      </ChooseWay>
      <Button plain onPress={() => navigate(returnPath(), { replace: true })}>
        Later
      </Button>
    </Panel>
  );
}

/** Each step can be repeated, so an interrupted set-up is simply done again. Returns the token of an invitation. */
async function invite(person: { name: string; email: string }): Promise<string> {
  const { data } = await dataOrThrow(
    api.GET('/v1/personnel', { params: { query: { email: person.email, limit: 1 } } }),
  );
  const { user_id } = data[0] ?? (await dataOrThrow(api.POST('/v1/personnel', { body: person })));
  const path = { user_id };
  await dataOrThrow(
    api.PUT('/v1/personnel/{user_id}/access', {
      params: { path },
      body: { scopes: [...meScopesValues] },
    }),
  );
  const createLink = () => dataOrThrow(api.POST('/v1/personnel/{user_id}/invitation', { params: { path } }));
  // A repeated request after a lost response has no link; the next one creates another.
  const url = (await createLink()).url ?? (await createLink()).url;
  const token = url?.split('#')[1];
  if (token === undefined) throw new ApiError(0, { detail: 'The connection was lost. Try again.' });
  return token;
}
