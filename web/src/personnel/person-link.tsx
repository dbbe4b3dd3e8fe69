import { Link } from 'wouter';
import type { Issue, Risk } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
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
