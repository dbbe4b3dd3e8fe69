import { useState } from 'react';
import { api } from '../api/client.ts';
import type { Access } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { Confirm } from '../components/dialog.tsx';
import { Secret } from '../components/secret.tsx';
import { formatTime } from '../format.ts';

type Link = { url: string | null; expires_at: string };

type Props = { access: Access; onClose: () => void };

/** Creates the link with which a person chooses a password or a passkey, and shows it once. */
export function Invitation({ access, onClose }: Props) {
  const write = useWrite();
  const [link, setLink] = useState<Link>();
  const { user_id, name, ways, invited_until } = access;
  const canSignIn = ways.length > 0;
  const create = async () => {
    const params = { path: { user_id } };
    setLink(await write(api.POST('/v1/personnel/{user_id}/invitation', { params })));
  };
  if (link)
    return (
      <Secret
        title={`Invitation link for ${name}`}
        secret={link.url}
        recovery="Create another link."
        onClose={onClose}
      >
        {`Send this link to ${name}. It works once, until ${formatTime(link.expires_at)}. You won't see it again.`}
      </Secret>
    );
  return (
    <Confirm
      title={`Invite ${name}`}
      action="Create invitation link"
      act={create}
      // The link is shown next.
      staysOpen
      onClose={onClose}
    >
      <p>
        Creates a link to copy and send. With it {name} chooses a password or a passkey. It works once, for 7
        days.
      </p>
      {canSignIn && (
        <p className="notice">
          {name} can sign in already. The link also resets the password; the old one works until the link is
          used.
        </p>
      )}
      {invited_until && (
        <p className="notice">The earlier link, valid until {formatTime(invited_until)}, stops working.</p>
      )}
    </Confirm>
  );
}
