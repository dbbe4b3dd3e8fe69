import { Link } from 'wouter';
import type { Actor as ActorOf } from '../api/openapi.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { PersonLabel } from './badges.tsx';
import { Icon } from './icon.tsx';

type Props = { actor: ActorOf };

/** Who made a change: a person, an API key or the service itself. */
export function Actor({ actor }: Props) {
  if (actor.type === 'person')
    return (
      <ActorLink actor={actor} own="You">
        <bdi>{actor.name}</bdi>
      </ActorLink>
    );
  return actor.type === 'key' ? <KeyName actor={actor} /> : <bdi>{actor.name}</bdi>;
}

/** `by Ada Lovelace`, or `via Nightly import`: a key does what somebody has told it to. */
export const ByActor = ({ actor }: Props) => (
  <>
    {actor.type === 'key' ? 'via' : 'by'} <Actor actor={actor} />
  </>
);

/** Who wrote a comment, with a picture. */
export function ActorLabel({ actor }: Props) {
  if (actor.type !== 'key')
    return (
      <ActorLink actor={actor} own={<PersonLabel name={actor.name} note="(you)" />}>
        <PersonLabel name={actor.name} />
      </ActorLink>
    );
  return (
    <span className="person">
      <Icon name="key" />
      <span>
        <KeyName actor={actor} />
      </span>
    </span>
  );
}

/** `Nightly import (API key)`, or whose key it is. */
function KeyName({ actor: { name, user_id } }: Props) {
  const isOwn = useMe().user_id === user_id;
  return (
    <>
      <bdi>{name}</bdi>{' '}
      <span className="quiet">
        {user_id === null ? '(API key)' : isOwn ? '(your API key)' : '(personal API key)'}
      </span>
    </>
  );
}

type LinkProps = Props & { own: React.ReactNode; children: React.ReactNode };

function ActorLink({ actor: { user_id }, own, children }: LinkProps) {
  const me = useMe();
  const canRead = useHasScope()('personnel.read');
  const shown = user_id !== null && user_id === me.user_id ? own : children;
  return user_id !== null && canRead ? <Link href={`/personnel/${user_id}`}>{shown}</Link> : shown;
}
