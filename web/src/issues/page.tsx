import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectsFirst } from '../projects/no-projects.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { issueColumns, resolveColumn } from './columns.tsx';
import { IssueFilters } from './filters.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { includesClosed, issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, worst first. */
export function IssuesPage() {
  const filterState = useFilters(issueFilterNames);
  const sort = useSort('issues', filterState, issueColumns);
  const { filters, isFiltered, clear } = filterState;
  const [resolved, setResolved] = useState<Issue>();
  const hasScope = useHasScope();
  const issues = useIssues(filters);
  const all = hasScope('projects.manage') ? [...issueColumns, resolveColumn(setResolved)] : issueColumns;
  const { columns, value, minWidth, menu } = useColumns('issues', all);
  const bulk = useBulk('issues', issues, filters);
  const { total, hasNextPage, fetchNextPage } = issues;
  const noun = includesClosed(filters) ? 'issue' : 'open issue';
  return (
    <>
      <Title title="Issues">
        <ViewsMenu list="issues" filters={filters} columns={value} />
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
      <IssueFilters state={filterState} />
      {bulk.bar}
      <List
        label="Issues"
        menu={menu}
        list={issues}
        columns={columns}
        minWidth={minWidth}
        rowKey={({ id }) => id}
        sort={sort}
        selection={bulk.selection}
        summary={total !== null && pluralize(total, noun)}
        empty={
          isFiltered ? (
            <NoMatches title={`No ${noun}s match these filters`} clear={clear} />
          ) : (
            <ProjectsFirst>
              <Empty title="No open issues">
                Create an issue when something goes wrong, or mark a risk as occurred on its page.
              </Empty>
            </ProjectsFirst>
          )
        }
      />
      {resolved && <ResolveIssue issue={resolved} onClose={() => setResolved(undefined)} />}
    </>
  );
}
