import type { ReactNode } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Issue, Project } from '../api/openapi.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { RowAction } from '../bulk/row-menu.tsx';
import { type ColumnChoice, useColumns } from '../columns/use-columns.tsx';
import { TitleCell } from '../components/badges.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { type FilterState, type Filters, useFilters } from '../components/filters.tsx';
import type { Column } from '../components/table.tsx';
import { formatDayOrText, humanize } from '../format.ts';
import { AssigneeName } from '../issues/assign.tsx';
import { issueColumns, resolveAction } from '../issues/columns.tsx';
import { IssueFilters } from '../issues/filters.tsx';
import { issueFilterNames, useIssues } from '../issues/queries.ts';
import { ItemsTable, type ListedItem } from '../layout/items-page.tsx';
import { rateAction, riskColumns } from '../risks/columns.tsx';
import { RiskFilters } from '../risks/filters.tsx';
import { canHaveMovement, riskFilterNames, useCompared, useRisks, useShownPeriod } from '../risks/queries.ts';
import { doneColumn, taskColumns } from '../tasks/columns.tsx';
import { TaskFilters } from '../tasks/filters.tsx';
import { taskFilterNames, useTasks } from '../tasks/queries.ts';
import { NewTask } from '../tasks/task-form.tsx';
import { useDoneAction } from '../tasks/tasks.tsx';

type Props = { project: Project };

export function ProjectRisks({ project }: Props) {
  const state = useFilters(withoutProject(riskFilterNames));
  const filters = useCompared(filtersIn(project, state));
  const period = useShownPeriod(state.filters);
  const all = riskColumns({ isFiltered: true, hasMovement: canHaveMovement(filters), period });
  // The rank among all projects and its history are on the list of all risks.
  const choice = useColumns('project risks', inProject('risks', all, ['rank', 'movement']));
  const hasMovement = choice.columns.some(({ name }) => name === 'movement');
  const rows = useRisks(filters, { hasMovement });
  return (
    <ProjectList
      list="risks"
      noun="active risk"
      action={rateAction}
      {...{ project, state, filters, rows, choice }}
    >
      <RiskFilters state={state} isInProject />
    </ProjectList>
  );
}

/** The assignee can't be changed in an archived project. */
const readOnlyIssueColumns = issueColumns.map((column) =>
  column.name === 'assignee'
    ? { ...column, cell: (issue: Issue) => <AssigneeName name={issue.assignee_name} /> }
    : column,
);

export function ProjectIssues({ project }: Props) {
  const state = useFilters(withoutProject(issueFilterNames));
  const columns = project.archived_at === null ? issueColumns : readOnlyIssueColumns;
  const choice = useColumns('project issues', inProject('issues', columns));
  const filters = filtersIn(project, state);
  const rows = useIssues(filters);
  return (
    <ProjectList
      list="issues"
      noun="open issue"
      action={resolveAction}
      {...{ project, state, filters, rows, choice }}
    >
      <IssueFilters state={state} isInProject />
    </ProjectList>
  );
}

export function ProjectTasks({ project }: Props) {
  const state = useFilters(withoutProject(taskFilterNames));
  const canEdit = useHasScope()('projects.manage') && project.archived_at === null;
  const choice = useColumns(
    'project tasks',
    inProject('tasks', canEdit ? [...taskColumns, doneColumn] : taskColumns),
  );
  const filters = filtersIn(project, state);
  const rows = useTasks(filters);
  const add = canEdit && (
    <DialogButton
      icon="plus"
      dialog={(onClose) => <NewTask project={project.key} kind="work" onClose={onClose} />}
    >
      Add task
    </DialogButton>
  );
  return (
    <ProjectList
      list="tasks"
      noun="open task"
      action={useDoneAction()}
      {...{ project, state, filters, rows, choice }}
    >
      <TaskFilters state={state} action={add} isInProject />
    </ProjectList>
  );
}

type ListProps<Row> = Props & {
  list: ItemList;
  /** What the list contains without filters. */
  noun: string;
  state: FilterState;
  filters: Filters;
  rows: Rows<Row>;
  choice: ColumnChoice<Row>;
  action: RowAction<Row>;
  /** The controls of the filters. */
  children: ReactNode;
};

/** A list in a tab. The tab is not printed, so the list has a heading of its own. */
function ProjectList<Row extends ListedItem>({ project, children, ...table }: ListProps<Row>) {
  const { list, state, filters } = table;
  const noun = filters.status ? list.slice(0, -1) : table.noun;
  return (
    <section aria-label={humanize(list)}>
      <h2 className="print-only">{humanize(list)}</h2>
      {children}
      <ItemsTable
        {...table}
        noun={noun}
        sort={state.bind('sort')}
        isReadOnly={project.archived_at !== null}
        empty={
          <p className="quiet">
            No {noun}s{filters.as_of && ` on ${formatDayOrText(filters.as_of)}`}
          </p>
        }
      />
    </section>
  );
}

const withoutProject = (names: readonly string[]) => names.filter((name) => name !== 'project');

/** The project may be archived at any time, and may not have been archived on the day of `as_of`. */
const filtersIn = ({ key }: Project, { filters }: FilterState): Filters => ({
  ...filters,
  project: key,
  archived: 'any',
});

type Item = { key: string; title: string };

/** The columns without the project, which all rows share. */
const inProject = <Row extends Item>(
  list: ItemList,
  columns: readonly Column<Row>[],
  optional: readonly string[] = [],
): Column<Row>[] =>
  columns
    .filter(({ name }) => name !== 'project')
    .map((column) => ({
      ...column,
      ...(optional.includes(column.name) && { isOptional: true }),
      ...(column.name === 'title' && {
        cell: ({ key, title }: Row) => <TitleCell title={title} href={`/${list}/${key}`} />,
      }),
    }));
