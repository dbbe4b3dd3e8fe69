import type { ReactNode } from 'react';
import type { Issue, Project } from '../api/openapi.ts';
import type { Rows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { BulkItem, BulkKind } from '../bulk/kinds.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { useColumns } from '../columns/use-columns.tsx';
import { TitleCell } from '../components/badges.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { type FilterState, type Filters, NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { formatDayOrText, pluralize } from '../format.ts';
import { AssigneeName } from '../issues/assign.tsx';
import { issueColumns } from '../issues/columns.tsx';
import { IssueFilters } from '../issues/filters.tsx';
import { issueFilterNames, useIssues } from '../issues/queries.ts';
import { riskColumns } from '../risks/columns.tsx';
import { RiskFilters } from '../risks/filters.tsx';
import { canHaveMovement, riskFilterNames, useRisks } from '../risks/queries.ts';
import { doneColumn, taskColumns } from '../tasks/columns.tsx';
import { TaskFilters } from '../tasks/filters.tsx';
import { taskFilterNames, useTasks } from '../tasks/queries.ts';
import { NewTask } from '../tasks/task-form.tsx';

type Props = { project: Project };

export function ProjectRisks({ project }: Props) {
  const state = useFilters(withoutProject(riskFilterNames));
  const filters = filtersIn(project, state);
  const all = riskColumns({ isFiltered: true, hasMovement: canHaveMovement(filters) });
  // The rank among all projects and its history are on the list of all risks.
  const choice = useColumns('project risks', inProject('risks', all, ['rank', 'movement']));
  const hasMovement = choice.columns.some(({ name }) => name === 'movement');
  const list = useRisks(filters, { hasMovement });
  return (
    <ProjectList kind="risks" noun="active risk" {...{ project, state, list, filters, ...choice }}>
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
  const list = useIssues(filters);
  return (
    <ProjectList kind="issues" noun="open issue" {...{ project, state, list, filters, ...choice }}>
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
  const list = useTasks(filters);
  const add = canEdit && (
    <DialogButton
      icon="plus"
      dialog={(onClose) => <NewTask project={project.key} kind="work" onClose={onClose} />}
    >
      Add task
    </DialogButton>
  );
  return (
    <ProjectList kind="tasks" noun="open task" {...{ project, state, list, filters, ...choice }}>
      <TaskFilters state={state} action={add} isInProject />
    </ProjectList>
  );
}

type ListProps<Row> = Props & {
  kind: BulkKind;
  /** What the list contains without filters. */
  noun: string;
  state: FilterState;
  filters: Filters;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  minWidth: number | undefined;
  menu: ReactNode;
  /** The controls of the filters. */
  children: ReactNode;
};

const titles = { risks: 'Risks', issues: 'Issues', tasks: 'Tasks' };

/** A list in a tab. The tab is not printed, so the list has a heading of its own. */
function ProjectList<Row extends BulkItem>(props: ListProps<Row>) {
  const { project, kind, state, filters, list, columns, minWidth, menu, children } = props;
  const { bind, isFiltered, clear } = state;
  const bulk = useBulk(kind, list, filters, { isReadOnly: project.archived_at !== null });
  const noun = filters.status ? kind.slice(0, -1) : props.noun;
  return (
    <section aria-label={titles[kind]}>
      <h2 className="print-only">{titles[kind]}</h2>
      {children}
      {bulk.bar}
      <List
        label={titles[kind]}
        menu={menu}
        list={list}
        columns={columns}
        minWidth={minWidth}
        rowKey={({ id }) => id}
        sort={bind('sort')}
        selection={bulk.selection}
        summary={list.total !== null && pluralize(list.total, noun)}
        empty={
          isFiltered ? (
            <NoMatches title={`No ${noun}s match these filters`} clear={clear} />
          ) : (
            <p className="quiet">
              No {noun}s{filters.as_of && ` on ${formatDayOrText(filters.as_of)}`}
            </p>
          )
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
  kind: BulkKind,
  columns: readonly Column<Row>[],
  optional: readonly string[] = [],
): Column<Row>[] =>
  columns
    .filter(({ name }) => name !== 'project')
    .map((column) => ({
      ...column,
      ...(optional.includes(column.name) && { isOptional: true }),
      ...(column.name === 'title' && {
        cell: ({ key, title }: Row) => <TitleCell title={title} href={`/${kind}/${key}`} />,
      }),
    }));
