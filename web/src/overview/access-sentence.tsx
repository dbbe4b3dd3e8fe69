import { presetOf } from '../access/presets.ts';
import type { ChangeEvent } from '../api/event-types.ts';
import { Actor } from '../components/actor.tsx';
import { PersonName } from '../personnel/person-link.tsx';

type Props = { event: ChangeEvent };

const text = (value: unknown) => (typeof value === 'string' ? value : null);

/** `Ada gave Lea access as Editor`. */
export function AccessSentence({ event: { type, actor, data, previous } }: Props) {
  const person = <PersonName user_id={text(data.user_id)} name={text(data.name)} />;
  const by = <Actor actor={actor} />;
  const preset = presetOf(data.scopes as string[]);
  switch (type) {
    case 'access.created':
      return (
        <>
          {by} gave {person} access: {preset}
        </>
      );
    case 'access.updated':
      return (
        <>
          {by} changed the access of {person}
          {previous.scopes
            ? ` from ${presetOf(previous.scopes as string[])} to ${preset}`
            : 'project_ids' in previous && ': projects'}
        </>
      );
    case 'access.deleted':
      return (
        <>
          {by} ended the access of {person}
        </>
      );
    case 'access.invited':
      return (
        <>
          {by} created an invitation link for {person}
        </>
      );
    default:
      return (
        <>
          <PersonName user_id={text(data.user_id)} name={text(data.name)} isFirst /> {ownChanges[type]}
        </>
      );
  }
}

const ownChanges: Readonly<Record<string, string>> = {
  'access.password_set': 'chose a password',
  'access.password_removed': 'removed the password',
  'access.passkey_added': 'added a passkey',
  'access.passkey_removed': 'removed a passkey',
};

const ways: Readonly<Record<string, string>> = {
  password: 'a password',
  passkey: 'a passkey',
  oidc: 'the identity provider',
  invitation: 'an invitation link',
  link: 'a sign-in link',
  key: 'an API key',
};

/** `Ada signed in with a passkey`. */
export function SessionSentence({ event: { type, actor, data } }: Props) {
  const by = <Actor actor={actor} />;
  const user_id = text(data.user_id);
  const isOwn = user_id === actor.user_id && text(data.key_id) === actor.key_id;
  const whose = user_id ? <PersonName user_id={user_id} name={null} /> : isOwn ? by : 'a key';
  const way = ways[String(data.way)];
  if (type === 'session.started')
    return (
      <>
        {by} signed in with {way}
      </>
    );
  if (type === 'session.failed')
    return (
      <>
        Someone failed to sign in {user_id && <>as {whose} </>}with {way}
      </>
    );
  switch (data.reason) {
    case 'signed_out':
      return <>{by} signed out</>;
    case 'replaced':
      return <>An earlier session of {whose} ended</>;
    case 'provider':
      return <>The identity provider signed out {whose}</>;
    case 'access_ended':
      return <>A session of {whose} ended with the access</>;
    default:
      return (
        <>
          {by} ended a session of {whose}
        </>
      );
  }
}
