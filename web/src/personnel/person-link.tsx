import { Link } from 'wouter';
import { PersonLabel } from '../components/badges.tsx';
import { useReadablePerson } from './queries.ts';

/** The name of a person, by id. Nothing for a key that can't read people. */
export function PersonLink({ user_id }: { user_id: string }) {
  const person = useReadablePerson(user_id);
  return (
    person && (
      <Link href={`/personnel/${user_id}`}>
        <PersonLabel name={person.name} />
      </Link>
    )
  );
}
