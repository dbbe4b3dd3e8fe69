import { Link } from 'wouter';
import type { Person } from '../api/openapi.ts';
import { Person as Face } from '../components/badges.tsx';
import type { Column } from '../components/table.tsx';

/** Who a row of a list is about; the link covers the row. */
export const nameColumn: Column<Person> = {
  name: 'name',
  header: 'Name',
  cell: ({ user_id, name, title }) => (
    <>
      <Link className="row-link" href={`/personnel/${user_id}`}>
        <Face name={name} />
      </Link>
      <span className="under">
        <bdi>{title}</bdi>
      </span>
    </>
  ),
};
