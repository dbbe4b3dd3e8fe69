import { useState } from 'react';
import { Link } from 'wouter';
import type { Person } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Person as Face } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { Applied, Choice, Search, Toggle, useFilters } from '../components/filters.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { type Column, Table } from '../components/table.tsx';
import { plural, words } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { people } from '../imports/importables.ts';
import { Title } from '../layout/title.tsx';
import { NewPerson } from './person-form.tsx';
import { personFilterNames, usePersonnel } from './queries.ts';

/** Everyone on the roster, by name: found by typing, however many they are. */
export function PersonnelPage() {
  const { filters, set, clear } = useFilters(personFilterNames);
  const [isNew, setNew] = useState(false);
  const may = useMay();
  const found = usePersonnel(filters);
  const { rows, total, first, hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const choice = (name: string) => ({
    value: filters[name],
    onChange: (value: string | null) => set({ [name]: value }),
  });
  const named = (values: readonly string[]) => values.map((value) => [value, words(value)] as const);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Title title="Personnel">
        <ExportButton path="/v1/personnel" filters={filters} name="personnel" />
        {may('personnel.manage') && (
          <>
            <ImportButton among={[people]} />
            <Button primary icon="plus" onPress={() => setNew(true)}>
              Add person
            </Button>
          </>
        )}
      </Title>
      <search className="filters">
        <Search
          label="Find by name, e-mail or title"
          value={filters.q ?? ''}
          onChange={(q) => set({ q: q || null })}
        />
        <Choice label="Status" options={named(['active', 'inactive'])} {...choice('status')} />
        <Choice
          label="Kind"
          options={named(['human', 'agent', 'placeholder', 'external'])}
          {...choice('kind')}
        />
        <Toggle label="Assignable" {...choice('assignable')} />
        {(['department', 'skill'] as const).map(
          (name) =>
            filters[name] && (
              <Applied
                key={name}
                label={`${words(name)} ${filters[name]}`}
                onRemove={() => set({ [name]: null })}
              />
            ),
        )}
        {Object.keys(filters).length > 1 && (
          <Button plain small onPress={clear}>
            Clear all
          </Button>
        )}
      </search>
      {found.isError && <ProblemNotice error={found.error} retry={() => found.refetch()} />}
      {found.isPending && <Loading />}
      {first && rows.length === 0 && isFiltered && (
        <Empty title="Nobody matches" action={<Button onPress={clear}>Clear the filters</Button>}>
          Nobody on the roster has all that you asked for.
        </Empty>
      )}
      {first && rows.length === 0 && !isFiltered && (
        <Empty title="The roster is empty">
          Add the people who own risks and take on tasks, with “Add person”, or drop a list of them here: CSV
          or Excel.
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <p className="summary-line" role="status">
            {total !== null && plural(total, 'person', 'people')}
          </p>
          <Table
            label="Personnel"
            columns={columns}
            rows={rows}
            rowKey={({ user_id }) => user_id}
            total={total}
            more={hasNextPage && !isFetchingNextPage ? fetchNextPage : undefined}
          />
        </>
      )}
      {isNew && <NewPerson onClose={() => setNew(false)} />}
    </>
  );
}

const columns: readonly Column<Person>[] = [
  {
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
  },
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
