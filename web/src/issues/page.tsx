import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { Severity, Status, TitleCell } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { FilterBar, FilterMenu, FilterToggle, NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { enumOptions, formatDay, formatDayOrText, formatNumber, humanize, pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { GroupFilter, PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { Assignee } from './assign.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { issueStatuses, priorities, severities } from './model.ts';
import { includesClosed, issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, worst first. */
export function IssuesPage() {
  const filterState = useFilters(issueFilterNames);
  const { filters, bind, isFiltered, clear } = filterState;
  const [resolved, setResolved] = useState<Issue>();
  const hasScope = useHasScope();
  const issues = useIssues(filters);
  const bulk = useBulk('issues', issues.rows, filters);
  const { total, hasNextPage, fetchNextPage } = issues;
  const noun = includesClosed(filters) ? 'issue' : 'open issue';
  return (
    <>
      <Title title="Issues">
        <ViewsMenu list="issues" filters={filters} />
        <PrintButton loadMore={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton
          path={includesClosed(filters) ? '/v1/issues/all' : '/v1/issues'}
          filters={filters}
          name="issues"
        />
        {hasScope('projects.manage') && (
          <CreateButton
            dialog={(onClose) => (
              <NewIssue
                project={filters.project?.includes(',') ? undefined : filters.project}
                onClose={onClose}
              />
            )}
          >
            Create issue
          </CreateButton>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by title or key" applied={appliedFilters}>
        <ProjectFilter {...bind('project')} />
        <FilterMenu label="Severity" options={enumOptions(severities)} {...bind('severity')} />
        <FilterMenu label="Priority" options={enumOptions(priorities)} {...bind('priority')} />
        <FilterMenu label="Status" options={enumOptions([...issueStatuses, 'all'])} {...bind('status')} />
        <PersonFilter label="Assignee" {...bind('assignee_user_id')} />
        <PersonFilter label="Owner" {...bind('owner_user_id')} />
        <GroupFilter label="Owning group" {...bind('owner_group_id')} />
        <FilterToggle label="Overdue" {...bind('overdue')} />
        <FilterToggle label="Unassigned" {...bind('unassigned')} />
      </FilterBar>
      {bulk.bar}
      <List
        label="Issues"
        list={issues}
        columns={hasScope('projects.manage') ? [...columns, resolveColumn(setResolved)] : columns}
        rowKey={({ id }) => id}
        sort={bind('sort')}
        selection={bulk.selection}
        summary={total !== null && pluralize(total, noun)}
        empty={
          isFiltered ? (
            <NoMatches title={`No ${noun}s match these filters`} clear={clear} />
          ) : (
            <Empty title="No open issues">
              Create an issue when something goes wrong, or mark a risk as occurred on its page.
            </Empty>
          )
        }
      />
      {resolved && <ResolveIssue issue={resolved} onClose={() => setResolved(undefined)} />}
    </>
  );
}

/** Labels of the filters that only links set. */
const appliedFilters = {
  min_age_days: (value: string) => `${value} days or older`,
  raised_since: (value: string) => `Raised since ${formatDayOrText(value)}`,
};

const columns: readonly Column<Issue>[] = [
  {
    name: 'severity',
    header: 'Severity',
    width: 5.6,
    sorts: [''],
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
    sorts: ['raised_on'],
    end: true,
    from: 'desktop',
    cell: ({ age_days }) => `${formatNumber(age_days)} d`,
  },
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    sorts: ['due_on'],
    from: 'tablet',
    cell: ({ due_on, overdue }) =>
      due_on && <span className={overdue ? 'overdue' : undefined}>{formatDay(due_on)}</span>,
  },
  {
    name: 'assignee',
    header: 'Assignee',
    width: 10,
    from: 'tablet',
    cell: (issue) => <Assignee issue={issue} />,
  },
];

const resolveColumn = (resolve: (issue: Issue) => void): Column<Issue> => ({
  name: 'actions',
  header: 'Actions',
  width: 6,
  end: true,
  from: 'desktop',
  cell: (issue) =>
    !['resolved', 'closed'].includes(issue.status) && (
      <Button small aria-label={`Resolve ${issue.key}`} onPress={() => resolve(issue)}>
        Resolve
      </Button>
    ),
});
