import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Named, Severity, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { Applied, Choice, type Filters, Search, Toggle, useFilters } from '../components/filters.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { type Column, Table } from '../components/table.tsx';
import { day, number, plural, words } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { useProjects } from '../projects/queries.ts';
import { Assignee } from './assign.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { priorities, severities } from './model.ts';
import { issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, the worst first. */
export function IssuesPage() {
  const { filters, set, clear } = useFilters(issueFilterNames);
  const [open, setOpen] = useState<'new' | Issue | null>(null);
  const may = useMay();
  const issues = useIssues(filters);
  const { rows, total, first, hasNextPage, isFetchingNextPage, fetchNextPage } = issues;
  return (
    <>
      <Title title="Issues">
        <PrintButton more={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton path="/v1/issues" filters={filters} name="issues" />
        {may('projects.manage') && (
          <Button primary icon="plus" onPress={() => setOpen('new')}>
            New issue
          </Button>
        )}
      </Title>
      <IssueFilters filters={filters} set={set} clear={clear} />
      {issues.isError && <ProblemNotice error={issues.error} retry={() => issues.refetch()} />}
      {issues.isPending && <Loading />}
      {first && rows.length === 0 && <NoIssues isFiltered={Object.keys(filters).length > 0} clear={clear} />}
      {rows.length > 0 && (
        <>
          <p className="summary-line" role="status">
            {total !== null && plural(total, 'open issue')}
          </p>
          <Table
            label="Open issues"
            columns={may('projects.manage') ? [...columns, resolveColumn(setOpen)] : columns}
            rows={rows}
            rowKey={({ id }) => id}
            total={total}
            more={hasNextPage && !isFetchingNextPage ? fetchNextPage : undefined}
          />
        </>
      )}
      {open === 'new' && (
        <NewIssue
          project={filters.project?.includes(',') ? undefined : filters.project}
          onClose={() => setOpen(null)}
        />
      )}
      {open !== null && open !== 'new' && <ResolveIssue issue={open} onClose={() => setOpen(null)} />}
    </>
  );
}

const NoIssues = ({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) =>
  isFiltered ? (
    <Empty title="No open issue matches" action={<Button onPress={clear}>Clear the filters</Button>}>
      Nothing that is open has all that you asked for.
    </Empty>
  ) : (
    <Empty title="No issue is open">
      When something has gone wrong, write it down with “New issue”, or let a risk become one on its page.
    </Empty>
  );

const named = (values: readonly string[]) => values.map((value) => [value, words(value)] as const);

type FilterProps = {
  filters: Filters;
  set: (changes: Record<string, string | null>) => void;
  clear: () => void;
};

function IssueFilters({ filters, set, clear }: FilterProps) {
  const projects = useProjects();
  const options = (projects.data ?? []).map(({ key, name }) => [key, <bdi key={key}>{name}</bdi>] as const);
  const choice = (name: string) => ({
    value: filters[name],
    onChange: (value: string | null) => set({ [name]: value }),
  });
  return (
    <search className="filters">
      <Search label="Find by title or key" value={filters.q ?? ''} onChange={(q) => set({ q: q || null })} />
      <Choice label="Project" options={options} {...choice('project')} />
      <Choice label="Severity" options={named(severities)} {...choice('severity')} />
      <Choice label="Priority" options={named(priorities)} {...choice('priority')} />
      <Choice label="Status" options={named(['open', 'in_progress', 'blocked'])} {...choice('status')} />
      <Toggle label="Overdue" {...choice('overdue')} />
      <Toggle label="Unassigned" {...choice('unassigned')} />
      {applied.map(
        ([name, describe]) =>
          filters[name] && (
            <Applied key={name} label={describe(filters[name])} onRemove={() => set({ [name]: null })} />
          ),
      )}
      {Object.keys(filters).length > 1 && (
        <Button plain small onPress={clear}>
          Clear all
        </Button>
      )}
    </search>
  );
}

/** Filters that are set by a click elsewhere. */
const applied: readonly [name: string, describe: (value: string) => string][] = [
  ['min_age_days', (value) => `At least ${value} days old`],
  ['raised_since', (value) => `Raised since ${/^\d{4}-\d\d-\d\d$/.test(value) ? day(value) : value}`],
  ['assignee_user_id', () => 'One assignee'],
];

const columns: readonly Column<Issue>[] = [
  {
    name: 'severity',
    header: 'Severity',
    width: 6,
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    name: 'title',
    header: 'Issue',
    cell: (issue) => <Named {...issue} href={`/issues/${issue.key}`} />,
  },
  {
    name: 'priority',
    header: 'Priority',
    width: 5.5,
    from: 'desktop',
    cell: ({ priority }) => words(priority),
  },
  {
    name: 'status',
    header: 'Status',
    width: 7,
    from: 'tablet',
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'age',
    header: 'Age',
    width: 4.5,
    end: true,
    from: 'desktop',
    cell: ({ age_days }) => `${number(age_days)} d`,
  },
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    from: 'tablet',
    cell: ({ due_on, overdue }) =>
      due_on && <span className={overdue ? 'late' : undefined}>{day(due_on)}</span>,
  },
  {
    name: 'assignee',
    header: 'Assignee',
    width: 11,
    from: 'tablet',
    cell: (issue) => <Assignee issue={issue} />,
  },
];

const resolveColumn = (resolve: (issue: Issue) => void): Column<Issue> => ({
  name: 'resolve',
  header: 'Actions',
  width: 6,
  end: true,
  cell: (issue) => (
    <Button small aria-label={`Resolve ${issue.key}`} onPress={() => resolve(issue)}>
      Resolve
    </Button>
  ),
});
