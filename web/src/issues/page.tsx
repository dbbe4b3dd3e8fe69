import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Severity, Status, TitleCell } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { FilterBar, FilterMenu, FilterToggle, NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { enumOptions, formatDay, formatDayOrText, formatNumber, humanize, pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { Assignee } from './assign.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { priorities, severities } from './model.ts';
import { issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, worst first. */
export function IssuesPage() {
  const filterState = useFilters(issueFilterNames);
  const { filters, bind, isFiltered, clear } = filterState;
  const [open, setOpen] = useState<'new' | Issue | null>(null);
  const hasScope = useHasScope();
  const issues = useIssues(filters);
  const { total, hasNextPage, fetchNextPage } = issues;
  return (
    <>
      <Title title="Issues">
        <PrintButton loadMore={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton path="/v1/issues" filters={filters} name="issues" />
        {hasScope('projects.manage') && (
          <Button primary icon="plus" onPress={() => setOpen('new')}>
            Create issue
          </Button>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by title or key" applied={appliedFilters(issues.rows)}>
        <ProjectFilter {...bind('project')} />
        <FilterMenu label="Severity" options={enumOptions(severities)} {...bind('severity')} />
        <FilterMenu label="Priority" options={enumOptions(priorities)} {...bind('priority')} />
        <FilterMenu
          label="Status"
          options={enumOptions(['open', 'in_progress', 'blocked'])}
          {...bind('status')}
        />
        <FilterToggle label="Overdue" {...bind('overdue')} />
        <FilterToggle label="Unassigned" {...bind('unassigned')} />
      </FilterBar>
      <List
        label="Open issues"
        list={issues}
        columns={hasScope('projects.manage') ? [...columns, resolveColumn(setOpen)] : columns}
        rowKey={({ id }) => id}
        summary={total !== null && pluralize(total, 'open issue')}
        empty={
          isFiltered ? (
            <NoMatches title="No open issues match these filters" clear={clear} />
          ) : (
            <Empty title="No open issues">
              Create an issue when something goes wrong, or mark a risk as occurred on its page.
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

/** Labels of the filters that only links set. The rows contain the assignee's name. */
const appliedFilters = (rows: readonly Issue[]) => ({
  min_age_days: (value: string) => `${value} days or older`,
  raised_since: (value: string) => `Raised since ${formatDayOrText(value)}`,
  assignee_user_id: (value: string) =>
    `Assignee: ${rows.find((one) => one.assignee_user_id === value)?.assignee_name ?? 'selected person'}`,
});

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
    cell: (issue) => <TitleCell {...issue} href={`/issues/${issue.key}`} />,
  },
  {
    name: 'priority',
    header: 'Priority',
    width: 5.5,
    from: 'desktop',
    cell: ({ priority }) => humanize(priority),
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
    cell: ({ age_days }) => `${formatNumber(age_days)} d`,
  },
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    from: 'tablet',
    cell: ({ due_on, overdue }) =>
      due_on && <span className={overdue ? 'overdue' : undefined}>{formatDay(due_on)}</span>,
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
