import { type Person, personKindValues } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { dayColumn, textColumn, updatedColumn } from '../components/columns.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton } from '../components/export.tsx';
import { FilterBar, FilterMenu, FilterToggle, NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { enumOptions, formatDayOf, humanize, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { peopleImport } from '../imports/targets.ts';
import { Title } from '../layout/title.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { nameColumn } from './name-column.tsx';
import { GroupFilter, PersonFilter, ValueFilter } from './person-filter.tsx';
import { NewPerson } from './person-form.tsx';
import { personFilterNames, usePersonnel } from './queries.ts';

/** Everyone on the roster, by name. */
export function PersonnelPage() {
  const filterState = useFilters(personFilterNames);
  const sort = useSort('personnel', filterState, allColumns);
  const { filters, bind, set, isFiltered, clear } = filterState;
  const hasScope = useHasScope();
  const people = usePersonnel(filters);
  const { columns, value, minWidth, menu } = useColumns('personnel', allColumns);
  return (
    <>
      <Title title="People">
        <ViewsMenu list="personnel" filters={filters} columns={value} />
        <ExportButton path="/v1/personnel" filters={filters} name="people" />
        {hasScope('personnel.manage') && (
          <>
            <ImportButton targets={[peopleImport]} />
            <CreateButton dialog={(onClose) => <NewPerson onClose={onClose} />}>Add person</CreateButton>
          </>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by name, email or title">
        <FilterMenu label="Status" options={enumOptions(['active', 'inactive'])} {...bind('status')} />
        <FilterMenu label="Kind" options={enumOptions(personKindValues)} {...bind('kind')} />
        <ValueFilter label="Department" field="department" {...bind('department')} />
        <ValueFilter label="Skill" field="skill" {...bind('skill')} />
        <ValueFilter label="Location" field="location" {...bind('location')} />
        <PersonFilter label="Manager" {...bind('manager_user_id')} />
        <GroupFilter
          label="Group"
          value={filters.group_id}
          onChange={(group_id) => set({ group_id, transitive: group_id && 'true' })}
        />
        <FilterToggle label="Assignable" {...bind('assignable')} />
      </FilterBar>
      <List
        label="People"
        menu={menu}
        list={people}
        columns={columns}
        minWidth={minWidth}
        rowKey={({ user_id }) => user_id}
        sort={sort}
        summary={people.total !== null && pluralize(people.total, 'person', 'people')}
        empty={
          isFiltered ? (
            <NoMatches title="No people match these filters" clear={clear} />
          ) : (
            <Empty title="No people yet">
              Add the people who own risks and work on tasks, or drop a CSV or Excel file here to import them.
            </Empty>
          )
        }
      />
    </>
  );
}

const allColumns: readonly Column<Person>[] = [
  { ...nameColumn, sorts: ['', '-name'] },
  textColumn('title', 'Title', { width: 13, from: 'tablet', sorts: ['title', '-title'] }),
  textColumn('department', 'Department', {
    width: 10,
    from: 'desktop',
    sorts: ['department', '-department'],
  }),
  {
    name: 'email',
    header: 'Email',
    width: 17,
    from: 'tablet',
    sorts: ['email', '-email'],
    cell: ({ email }) => email,
  },
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
    width: 6,
    sorts: ['status', '-status'],
    cell: ({ status, kind }) => (
      <span className={`chip status-${status}`}>
        {status === 'active' && kind !== 'human' ? humanize(kind) : humanize(status)}
      </span>
    ),
  },
  { name: 'kind', header: 'Kind', width: 7, isOptional: true, cell: ({ kind }) => humanize(kind) },
  textColumn('location', 'Location', { width: 9, isOptional: true }),
  { name: 'phone', header: 'Phone', width: 9, isOptional: true, cell: ({ phone }) => phone },
  {
    name: 'skills',
    header: 'Skills',
    width: 13,
    isOptional: true,
    cell: ({ skills }) => <bdi>{skills.join(', ')}</bdi>,
  },
  {
    name: 'external_id',
    header: 'External ID',
    width: 9,
    isOptional: true,
    cell: ({ external_id }) => external_id,
  },
  dayColumn('start', 'First day', 'start_on', { isOptional: true }),
  {
    name: 'created',
    header: 'Added',
    width: 7.5,
    isOptional: true,
    sorts: ['-created_at', 'created_at'],
    cell: ({ created_at }) => formatDayOf(created_at),
  },
  updatedColumn,
];
