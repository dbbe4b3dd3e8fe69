import { useState } from 'react';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { Empty } from '../components/empty.tsx';
import { useFilters } from '../components/filters.tsx';
import { ItemsPage } from '../layout/items-page.tsx';
import { ProjectsFirst } from '../projects/no-projects.tsx';
import { issueColumns, resolveAction, resolveColumn } from './columns.tsx';
import { IssueFilters } from './filters.tsx';
import { NewIssue, ResolveIssue } from './issue-form.tsx';
import { includesClosed, issueFilterNames, useIssues } from './queries.ts';

/** The open issues of all projects, worst first. */
export function IssuesPage() {
  const state = useFilters(issueFilterNames);
  const [resolved, setResolved] = useState<Issue>();
  const canEdit = useHasScope()('projects.manage');
  const isAll = includesClosed(state.filters);
  return (
    <>
      <ItemsPage
        list="issues"
        noun={isAll ? 'issue' : 'open issue'}
        state={state}
        sort={useSort('issues', state, issueColumns)}
        rows={useIssues(state.filters)}
        choice={useColumns('issues', canEdit ? [...issueColumns, resolveColumn(setResolved)] : issueColumns)}
        action={resolveAction}
        exportPath={isAll ? '/v1/issues/all' : '/v1/issues'}
        createLabel="Create issue"
        createDialog={(project, onClose) => <NewIssue project={project} onClose={onClose} />}
        controls={<IssueFilters state={state} />}
        empty={
          <ProjectsFirst>
            <Empty title="No open issues">
              Create an issue when something goes wrong, mark a risk as occurred on its page, or drop your CSV
              or Excel file here.
            </Empty>
          </ProjectsFirst>
        }
      />
      {resolved && <ResolveIssue issue={resolved} onClose={() => setResolved(undefined)} />}
    </>
  );
}
