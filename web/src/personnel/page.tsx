import type { Person } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { DialogButton } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { Choice, FilterBar, NoMatch, Toggle, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { plural, withWords, words } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { people } from '../imports/importables.ts';
import { Title } from '../layout/title.tsx';
import { nameColumn } from './name-column.tsx';
import { NewPerson } from './person-form.tsx';
import { personFilterNames, personKinds, usePersonnel } from './queries.ts';

/** Everyone on the roster, by name: found by typing, however many they are. */
export function PersonnelPage() {
  const bar = useFilters(personFilterNames);
  const { filters, choice, isFiltered, clear } = bar;
  const may = useMay();
  const found = usePersonnel(filters);
  return (
    <>
      <Title title="Personnel">
        <ExportButton path="/v1/personnel" filters={filters} name="personnel" />
        {may('personnel.manage') && (
          <>
            <ImportButton among={[people]} />
            <DialogButton primary icon="plus" dialog={(onClose) => <NewPerson onClose={onClose} />}>
              Add person
            </DialogButton>
          </>
        )}
      </Title>
      <FilterBar bar={bar} search="Find by name, e-mail or title" applied={applied}>
        <Choice label="Status" options={withWords(['active', 'inactive'])} {...choice('status')} />
        <Choice label="Kind" options={withWords(personKinds)} {...choice('kind')} />
        <Toggle label="Assignable" {...choice('assignable')} />
      </FilterBar>
      <List
        label="Personnel"
        list={found}
        columns={columns}
        rowKey={({ user_id }) => user_id}
        summary={found.total !== null && plural(found.total, 'person', 'people')}
        empty={
          isFiltered ? (
            <NoMatch title="Nobody matches" clear={clear}>
              Nobody on the roster has all that you asked for.
            </NoMatch>
          ) : (
            <Empty title="The roster is empty">
              Add the people who own risks and take on tasks, with “Add person”, or drop a list of them here:
              CSV or Excel.
            </Empty>
          )
        }
      />
    </>
  );
}

const applied = {
  department: (value: string) => `Department ${value}`,
  skill: (value: string) => `Skill ${value}`,
};

const columns: readonly Column<Person>[] = [
  nameColumn,
  { name: 'title', header: 'Title', width: 14, from: 'tablet', cell: ({ title }) => <bdi>{title}</bdi> },
  {
    name: 'department',
    header: 'Department',
    width: 10,
    from: 'desktop',
    cell: ({ department }) => <bdi>{department}</bdi>,
  },
  { name: 'email', header: 'E-mail', width: 17, from: 'tablet', cell: ({ email }) => email },
  {
    name: 'groups',
    header: 'Groups',
    width: 13,
    from: 'wide',
    cell: ({ groups }) => <bdi>{groups.map(({ name }) => name).join(', ')}</bdi>,
  },
  {
    name: 'status',
    header: 'Status',
    width: 7,
    cell: ({ status, kind }) => (
      <span className={`chip status-${status}`}>
        {status === 'active' && kind !== 'human' ? words(kind) : words(status)}
      </span>
    ),
  },
];
