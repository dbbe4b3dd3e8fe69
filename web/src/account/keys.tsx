import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { type Key, type KeyWithSecret, meScopesValues, type PersonalKeyInput } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Card } from '../components/card.tsx';
import { Confirm, Dialog, DialogButton } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { Loaded } from '../components/loading.tsx';
import { Secret } from '../components/secret.tsx';
import { toast } from '../components/toast.tsx';
import {
  dayOf,
  daysFromToday,
  formatAge,
  formatDay,
  organizationTimeZone,
  summarizeScopes,
} from '../format.ts';
import { withEndOfDay } from '../keys/key-form.tsx';
import { withRecentSignIn } from './recent-sign-in.tsx';

/** Keys for the person's own programs. */
export function PersonalKeys() {
  const [created, setCreated] = useState<KeyWithSecret>();
  const query = useQuery({
    queryKey: ['account', 'keys'],
    queryFn: async () =>
      (
        await dataOrThrow(api.GET('/v1/me/keys', { params: { query: { status: ['valid', 'expired'] } } }))
      ).data.toReversed(),
  });
  return (
    <Card id="personal-keys" title="Personal keys">
      <p>For scripts that act for you, with at most your own access. They end with it.</p>
      <Loaded query={query}>
        {(keys) =>
          keys.length === 0 ? (
            <p className="quiet">No personal keys yet</p>
          ) : (
            <ul className="account-list">
              {keys.map((key) => (
                <KeyRow key={key.id} shown={key} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <div className="button-row">
        <DialogButton icon="plus" dialog={(onClose) => <NewKey onClose={onClose} onCreated={setCreated} />}>
          Create key
        </DialogButton>
      </div>
      {created && (
        <Secret
          title={`New key: ${created.name}`}
          secret={created.secret}
          recovery="Revoke this key and create another."
          onClose={() => setCreated(undefined)}
        >
          Copy this key now; you won't see it again.
        </Secret>
      )}
    </Card>
  );
}

type NewProps = { onClose: () => void; onCreated: (key: KeyWithSecret) => void };

function NewKey({ onClose, onCreated }: NewProps) {
  const hasScope = useHasScope();
  const refresh = useRefresh();
  const fields: FieldOf<PersonalKeyInput>[] = [
    { name: 'name', label: 'Name', kind: 'line', required: true, hint: 'Such as the script that uses it' },
    {
      name: 'scopes',
      label: 'Scopes',
      kind: 'scopes',
      required: true,
      options: meScopesValues.filter(hasScope).map((scope) => [scope, scope] as const),
      hint: 'Manage includes Read.',
    },
    {
      name: 'expires_at',
      label: 'Expires',
      kind: 'day',
      min: daysFromToday(1),
      hint: `Expires at 23:59 on that day (${organizationTimeZone()}). Leave blank to never expire.`,
    },
  ];
  const create = async (values: PersonalKeyInput) => {
    const key = await withRecentSignIn(() =>
      dataOrThrow(api.POST('/v1/me/keys', { body: withEndOfDay(values) })),
    );
    await refresh();
    onCreated(key);
  };
  return (
    <Dialog title="Create personal key" onClose={onClose}>
      <Form fields={fields} action="Create key" submit={create} onClose={onClose} />
    </Dialog>
  );
}

function KeyRow({ shown }: { shown: Key }) {
  const { id, name, scopes, prefix, last_four, expires_at, last_used_at } = shown;
  const refresh = useRefresh();
  const revoke = async () => {
    await withRecentSignIn(() => dataOrThrow(api.DELETE('/v1/me/keys/{id}', { params: { path: { id } } })));
    await refresh();
    toast(`Revoked ${name}`);
  };
  const isExpired = expires_at !== null && expires_at <= new Date().toISOString();
  return (
    <li>
      <div>
        <span>
          <bdi>{name}</bdi>{' '}
          <code>
            {prefix}…{last_four}
          </code>
        </span>
        <span className="secondary" title={scopes.join('\n')}>
          {[
            summarizeScopes(scopes),
            expires_at && `${isExpired ? 'expired' : 'until'} ${formatDay(dayOf(expires_at))}`,
            last_used_at ? `last used ${formatAge(last_used_at)}` : 'never used',
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <DialogButton
        small
        aria-label={`Revoke ${name}`}
        dialog={(onClose) => (
          <Confirm title={`Revoke ${name}?`} action="Revoke" danger act={revoke} onClose={onClose}>
            <p>Stops working immediately. This can't be undone.</p>
          </Confirm>
        )}
      >
        Revoke
      </DialogButton>
    </li>
  );
}
