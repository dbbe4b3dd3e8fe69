import { Link } from 'wouter';
import type { Person } from '../api/openapi.ts';
import { PersonLabel } from '../components/badges.tsx';
import type { Column } from '../components/table.tsx';

/** The name of a person. The link covers the whole row (table.css). */
export const nameColumn: Column<Person> = {
  name: 'name',
  header: 'Name',
  isPinned: true,
  cell: ({ user_id, name, title }) => (
    <>
      <Link className="row-link" href={`/personnel/${user_id}`}>
        <PersonLabel name={name} />
      </Link>
      <span className="secondary-line">
        <bdi>{title}</bdi>
      </span>
    </>
  ),
};
