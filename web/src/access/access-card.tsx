import { type ReactNode, useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Access, Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Card, Facts } from '../components/card.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { History } from '../components/history.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { formatTime, summarizeScopes } from '../format.ts';
import { useProjectKeys } from '../projects/queries.ts';
import { AccessDialog } from './access-form.tsx';
import { Invitation } from './invitation.tsx';
import { presetOf } from './presets.ts';
import { useAccess, useAccessObstacle, useManagesAccess, useSignInWays } from './queries.ts';
import { Sessions } from './sessions.tsx';
import { describeSource, describeWays } from './words.ts';

type Props = { person: Person };

/** Whether a person can sign in, and what they can do then. */
export function AccessCards({ person }: Props) {
  const query = useAccess(person.user_id);
  const canManage = useManagesAccess();
  const isMe = useMe().user_id === person.user_id;
  const access = query.data;
  return (
    <>
      <Card id="access" title="Access">
        <Loaded query={query}>
          {(held) => (held ? <HeldAccess access={held} /> : <NoAccess person={person} />)}
        </Loaded>
      </Card>
      {access && (canManage || isMe) && <Sessions user_id={person.user_id} />}
      {access && (
        <History
          title="Access history"
          subject={{ id: access.id, path: `/v1/personnel/${person.user_id}/access` }}
        />
      )}
    </>
  );
}

/** Why a person can't have access; undefined if they can. */
function obstacleOf({ name, kind, status }: Person): ReactNode {
  if (kind === 'agent') return <>{name} is an agent. Agents don't sign in: they use API keys.</>;
  if (kind === 'placeholder') return <>{name} is a placeholder. Only people can sign in.</>;
  return status === 'active' ? undefined : <>{name} is inactive. Only active people can have access.</>;
}

function NoAccess({ person }: Props) {
  const canManage = useManagesAccess();
  const [given, setGiven] = useState<Access>();
  const obstacle = obstacleOf(person);
  return (
    <>
      <p className="quiet">{obstacle ?? 'No access'}</p>
      {canManage && !obstacle && (
        <div className="button-row">
          <DialogButton
            small
            dialog={(onClose) => <AccessDialog person={person} onClose={onClose} onGiven={setGiven} />}
          >
            Give access
          </DialogButton>
        </div>
      )}
      {given && <Invitation access={given} onClose={() => setGiven(undefined)} />}
    </>
  );
}

function HeldAccess({ access }: { access: Access }) {
  const canManage = useManagesAccess();
  const obstacle = useAccessObstacle()(access);
  const projectKeyOf = useProjectKeys();
  const hasScope = useHasScope();
  const { scopes, project_ids, source, last_seen_at, invited_until } = access;
  return (
    <>
      <Facts
        facts={[
          ['Access', presetOf(scopes)],
          ['Can', summarizeScopes(scopes)],
          ['Projects', project_ids === null ? 'All' : project_ids.map(projectKeyOf).join(', ')],
          ['Source', describeSource(source)],
          ['Signs in with', <Ways key="ways" access={access} />],
          ['Last seen', last_seen_at ? formatTime(last_seen_at) : 'Not signed in'],
          ['Invited until', invited_until && formatTime(invited_until)],
        ]}
      />
      {canManage && (obstacle ? <p className="notice">{obstacle}</p> : <Actions access={access} />)}
      {hasScope('events.read') && (
        <div className="button-row">
          <ButtonLink small plain href={`/audit?person=${access.user_id}`}>
            View sign-ins and changes
          </ButtonLink>
        </div>
      )}
    </>
  );
}

/** The ways that the person has, or how to get one. */
function Ways({ access: { ways, email, name } }: { access: Access }) {
  const { data: offered } = useSignInWays();
  if (ways.length > 0) return describeWays(ways);
  if (email === null) return <>Nothing: add an email address, which {name} needs to sign in.</>;
  return offered?.oidc
    ? 'Nothing yet. The first sign-in with the identity provider adds it, or an invitation link.'
    : 'Nothing yet. Copy an invitation link and send it.';
}

function Actions({ access }: { access: Access }) {
  const [isInviting, setInviting] = useState(false);
  return (
    <div className="button-row">
      <DialogButton
        small
        dialog={(onClose) => <AccessDialog person={access} access={access} onClose={onClose} />}
      >
        Change access
      </DialogButton>
      <Button small isDisabled={access.email === null} onPress={() => setInviting(true)}>
        Copy invitation link
      </Button>
      <DialogButton small dialog={(onClose) => <EndAccess access={access} onClose={onClose} />}>
        End access
      </DialogButton>
      {isInviting && <Invitation access={access} onClose={() => setInviting(false)} />}
    </div>
  );
}

type EndProps = { access: Access; onClose: () => void };

export function EndAccess({ access: live, onClose }: EndProps) {
  const { item: access } = useOpened(live);
  const refresh = useRefresh();
  const me = useMe();
  const { user_id, name } = access;
  const end = async () => {
    const params = { path: { user_id } };
    await dataOrThrow(api.DELETE('/v1/personnel/{user_id}/access', { params, ...ifMatch(access) }));
    toast(`Ended access of ${name}`);
    await refresh();
  };
  return (
    <Confirm title={`End access of ${name}?`} action="End access" danger act={end} onClose={onClose}>
      <p>
        {name} is signed out everywhere at once. A pending invitation and personal keys stop working, and the
        password and passkeys are deleted.
      </p>
      <p>{name} stays on the roster with all assigned work.</p>
      {access.source === 'oidc' && (
        <p className="notice">
          This access comes from the identity provider. Remove {name} there too, or the next sign-in gives it
          again.
        </p>
      )}
      {user_id === me.user_id && (
        <p className="notice">This is your own access, so you will be signed out.</p>
      )}
    </Confirm>
  );
}
