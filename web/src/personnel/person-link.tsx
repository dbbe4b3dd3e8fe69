import { Link } from 'wouter';
import type { Issue, Risk } from '../api/openapi.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { PersonLabel } from '../components/badges.tsx';
import { useReadablePerson } from './queries.ts';

/** The name of a person, by id. Nothing for a key that can't read people. */
export function PersonLink({ user_id }: { user_id: string | null }) {
  const person = useReadablePerson(user_id);
  return (
    person && (
      <Link href={`/personnel/${user_id}`}>
        <PersonLabel name={person.name} />
      </Link>
    )
  );
}

type NameProps = {
  user_id: string | null;
  /** As far as it is known; otherwise it is read. */
  name: string | null;
  /** Whether a sentence starts with it. */
  isFirst?: boolean;
};

/** A person in a sentence. */
export function PersonName({ user_id, name, isFirst = false }: NameProps) {
  const me = useMe();
  const canRead = useHasScope()('personnel.read');
  const person = useReadablePerson(name === null ? user_id : null);
  const isMe = user_id !== null && user_id === me.user_id;
  const you = isFirst ? 'You' : 'you';
  const shown = isMe ? you : <bdi>{name ?? person?.name ?? 'a person'}</bdi>;
  return canRead && user_id ? <Link href={`/personnel/${user_id}`}>{shown}</Link> : shown;
}

/** The person or the group that owns an item, linked for a key that can read them. */
export function OwnerLink({ item }: { item: Risk | Issue }) {
  const hasScope = useHasScope();
  const { owner_user_id, owner_group_id, owner_name } = item;
  const name = <PersonLabel name={owner_name ?? ''} />;
  if (!hasScope('personnel.read')) return name;
  const href = owner_user_id ? `/personnel/${owner_user_id}` : `/groups/${owner_group_id}`;
  return (
    <>
      <Link href={href}>{name}</Link>
      {item.owner_active === false && <span className="chip level-high">Inactive</span>}
    </>
  );
}

/** In place of the owner of an item without one. */
export const NoOwner = () => <span className="quiet">No owner</span>;
