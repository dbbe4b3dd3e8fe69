import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Named, Severity, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { Choice, FilterBar, NoMatch, Toggle, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { day, dayOrText, number, plural, withWords, words } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectChoice } from '../projects/project-choice.tsx';
import { Assignee } from './assign.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { priorities, severities } from './model.ts';
import { issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, the worst first. */
export function IssuesPage() {
  const bar = useFilters(issueFilterNames);
  const { filters, choice, isFiltered, clear } = bar;
  const [open, setOpen] = useState<'new' | Issue | null>(null);
  const may = useMay();
  const issues = useIssues(filters);
  const { total, hasNextPage, fetchNextPage } = issues;
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
      <FilterBar bar={bar} search="Find by title or key" applied={applied}>
        <ProjectChoice {...choice('project')} />
        <Choice label="Severity" options={withWords(severities)} {...choice('severity')} />
        <Choice label="Priority" options={withWords(priorities)} {...choice('priority')} />
        <Choice
          label="Status"
          options={withWords(['open', 'in_progress', 'blocked'])}
          {...choice('status')}
        />
        <Toggle label="Overdue" {...choice('overdue')} />
        <Toggle label="Unassigned" {...choice('unassigned')} />
      </FilterBar>
      <List
        label="Open issues"
        list={issues}
        columns={may('projects.manage') ? [...columns, resolveColumn(setOpen)] : columns}
        rowKey={({ id }) => id}
        summary={total !== null && plural(total, 'open issue')}
        empty={
          isFiltered ? (
            <NoMatch title="No open issue matches" clear={clear}>
              Nothing that is open has all that you asked for.
            </NoMatch>
          ) : (
            <Empty title="No issue is open">
              When something has gone wrong, write it down with “New issue”, or let a risk become one on its
              page.
            </Empty>
          )
        }
      />
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

const applied = {
  min_age_days: (value: string) => `At least ${value} days old`,
  raised_since: (value: string) => `Raised since ${dayOrText(value)}`,
  assignee_user_id: () => 'One assignee',
};

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
