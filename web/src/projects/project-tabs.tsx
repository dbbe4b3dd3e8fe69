import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Issue, Project, RankedRisk } from '../api/openapi.ts';
import { Activity } from '../comments/activity.tsx';
import { PersonLabel, Score, Severity, Status, TitleCell } from '../components/badges.tsx';
import { List } from '../components/list.tsx';
import type { Column } from '../components/table.tsx';
import { Tabs } from '../components/tabs.tsx';
import { formatDay, pluralize } from '../format.ts';
import { AssigneeName } from '../issues/assign.tsx';
import { useIssues } from '../issues/queries.ts';
import { useRisks } from '../risks/queries.ts';
import { Tasks } from '../tasks/tasks.tsx';

type Props = { project: Project; overview: ReactNode };

/** The parts of a project. The URL has the selected one, so that a link, a reload or Back opens it. */
export function ProjectTabs({ project, overview }: Props) {
  const [search, setSearch] = useSearchParams();
  const tabs = {
    overview: { title: 'Overview', content: overview },
    risks: { title: 'Risks', count: project.counts.active_risks, content: <Risks project={project} /> },
    issues: { title: 'Issues', count: project.counts.open_issues, content: <Issues project={project} /> },
    tasks: {
      title: 'Tasks',
      count: useTaskCount(project),
      content: <Tasks project={project.key} kind="work" />,
    },
    activity: {
      title: 'Activity',
      content: (
        <Activity
          subject={{ id: project.id, path: `/v1/projects/${project.id}` }}
          isReadOnly={project.archived_at !== null}
        />
      ),
    },
  };
  const asked = search.get('tab') ?? '';
  return (
    <Tabs
      label="Parts of the project"
      tabs={tabs}
      selected={Object.hasOwn(tabs, asked) ? (asked as keyof typeof tabs) : 'overview'}
      onSelect={(name) => setSearch(name === 'overview' ? {} : { tab: name })}
    />
  );
}

/** The number of open tasks. */
function useTaskCount({ key }: Project): number | undefined {
  const { data } = useQuery({
    queryKey: ['tasks', 'count', key],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/tasks', { params: { query: { project: [key], limit: 1, count: true } } })),
  });
  return data?.page.total ?? undefined;
}

const ownerColumn = {
  name: 'owner',
  header: 'Owner',
  width: 11,
  from: 'tablet',
  cell: ({ owner_name }: { owner_name: string | null }) =>
    owner_name ? <PersonLabel name={owner_name} /> : <span className="quiet">No owner</span>,
} as const;

const statusColumn = {
  name: 'status',
  header: 'Status',
  width: 7.5,
  from: 'tablet',
  cell: ({ status }: { status: string }) => <Status status={status} />,
} as const;

const dueColumn = {
  name: 'due',
  header: 'Due',
  width: 7.5,
  from: 'tablet',
  cell: ({ due_on, overdue = false }: { due_on: string | null; overdue?: boolean }) =>
    due_on && <span className={overdue ? 'overdue' : undefined}>{formatDay(due_on)}</span>,
} as const;

const riskColumns: readonly Column<RankedRisk>[] = [
  {
    name: 'score',
    header: 'Score',
    width: 4,
    cell: ({ score, level }) => <Score score={score} level={level} />,
  },
  {
    name: 'title',
    header: 'Risk',
    cell: (risk) => <TitleCell title={risk.title} href={`/risks/${risk.key}`} />,
  },
  statusColumn,
  ownerColumn,
  dueColumn,
];

const issueColumns: readonly Column<Issue>[] = [
  {
    name: 'severity',
    header: 'Severity',
    width: 6,
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    name: 'title',
    header: 'Issue',
    cell: (issue) => <TitleCell title={issue.title} href={`/issues/${issue.key}`} />,
  },
  statusColumn,
  {
    name: 'assignee',
    header: 'Assignee',
    width: 11,
    from: 'tablet',
    cell: ({ assignee_name }) => <AssigneeName name={assignee_name} />,
  },
  dueColumn,
];

/** An archived project is not part of the lists of all projects unless they are asked for it. */
const filtersOf = ({ key, archived_at }: Project) => ({
  project: key,
  ...(archived_at !== null && { archived: 'true' }),
});

function Risks({ project }: { project: Project }) {
  const list = useRisks(filtersOf(project));
  return (
    <ListPanel title="Risks">
      <List
        label="Risks"
        list={list}
        columns={riskColumns}
        rowKey={({ id }) => id}
        summary={<Summary href={`/risks?project=${project.key}`} count={list.total} noun="active risk" />}
        empty={<p className="quiet">No active risks</p>}
      />
    </ListPanel>
  );
}

function Issues({ project }: { project: Project }) {
  const list = useIssues(filtersOf(project));
  return (
    <ListPanel title="Issues">
      <List
        label="Issues"
        list={list}
        columns={issueColumns}
        rowKey={({ id }) => id}
        summary={<Summary href={`/issues?project=${project.key}`} count={list.total} noun="open issue" />}
        empty={<p className="quiet">No open issues</p>}
      />
    </ListPanel>
  );
}

/** The tab is not printed, so the list has a heading of its own. */
const ListPanel = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <h2 className="print-only">{title}</h2>
    {children}
  </section>
);

const Summary = ({ href, count, noun }: { href: string; count: number | null; noun: string }) => (
  <>
    {count !== null && pluralize(count, noun)}{' '}
    <Link className="no-print" href={href}>
      Filter and sort
    </Link>
  </>
);
