import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Passkey } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Card } from '../components/card.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatAge, formatDayOf, formatTime } from '../format.ts';
import { createPasskey } from '../sign-in/ways.ts';
import { withRecentSignIn } from './recent-sign-in.tsx';

/** `canAdd` says whether passkeys work in this browser, at this address. */
export function Passkeys({ canAdd }: { canAdd: boolean }) {
  const refresh = useRefresh();
  const query = useQuery({
    queryKey: ['account', 'passkeys'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/me/passkeys'))).data,
  });
  const add = async () => {
    await withRecentSignIn(async () => {
      const passkey = await createPasskey(() => dataOrThrow(api.POST('/v1/me/passkeys/challenge')));
      await dataOrThrow(api.POST('/v1/me/passkeys', { body: { passkey } }));
    });
    await refresh();
    toast('Added passkey');
  };
  return (
    <Card id="passkeys" title="Passkeys">
      <p>Sign in with your fingerprint, face or device PIN instead of a password.</p>
      <Loaded query={query}>
        {(passkeys) => (
          <>
            {passkeys.length === 0 && <p className="quiet">No passkeys yet</p>}
            {passkeys.length > 0 && (
              <ul className="account-list">
                {passkeys.map((passkey) => (
                  <PasskeyRow key={passkey.id} passkey={passkey} />
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
      {canAdd ? (
        <div className="button-row">
          <ActionButton icon="plus" act={add}>
            Add passkey
          </ActionButton>
        </div>
      ) : (
        <p className="quiet">Passkeys don't work in this browser at this address.</p>
      )}
    </Card>
  );
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const { id, name, created_at, last_used_at } = passkey;
  const refresh = useRefresh();
  const remove = async () => {
    await withRecentSignIn(() =>
      dataOrThrow(api.DELETE('/v1/me/passkeys/{id}', { params: { path: { id } } })),
    );
    await refresh();
    toast('Removed passkey');
  };
  return (
    <li>
      <div>
        <bdi>{name}</bdi>
        <span className="secondary">
          Added {formatDayOf(created_at)} ·{' '}
          {last_used_at ? (
            <time dateTime={last_used_at} title={formatTime(last_used_at)}>
              last used {formatAge(last_used_at)}
            </time>
          ) : (
            'never used'
          )}
        </span>
      </div>
      <DialogButton
        small
        aria-label={`Remove passkey ${name}, added ${formatDayOf(created_at)}`}
        dialog={(onClose) => (
          <Confirm title="Remove this passkey?" action="Remove" danger act={remove} onClose={onClose}>
            <p>You can't sign in with it any more. Your device may still offer it: delete it there too.</p>
          </Confirm>
        )}
      >
        Remove
      </DialogButton>
    </li>
  );
}
