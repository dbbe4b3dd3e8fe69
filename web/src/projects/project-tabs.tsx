import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Activity } from '../comments/activity.tsx';
import { lazy } from '../components/lazy.tsx';
import { Loading } from '../components/loading.tsx';
import { Tabs } from '../components/tabs.tsx';
import { ProjectIssues, ProjectRisks, ProjectTasks } from './project-lists.tsx';

/** Its code loads when it is opened. */
const ItemActivity = lazy(() => import('../overview/activity.tsx'), 'ItemActivity', <Loading />);

type Props = { project: Project; overview: ReactNode };

/** The parts of a project. The URL has the selected one, so that a link, a reload or Back opens it. */
export function ProjectTabs({ project, overview }: Props) {
  const [search, setSearch] = useSearchParams();
  const canReadEvents = useHasScope()('events.read');
  const tabs = {
    overview: { title: 'Overview', content: overview },
    risks: {
      title: 'Risks',
      count: project.counts.active_risks + project.counts.opportunities,
      content: <ProjectRisks project={project} />,
    },
    issues: {
      title: 'Issues',
      count: project.counts.open_issues,
      content: <ProjectIssues project={project} />,
    },
    tasks: {
      title: 'Tasks',
      count: useTaskCount(project),
      content: <ProjectTasks project={project} />,
    },
    activity: {
      title: 'Activity',
      content: (
        <div className="columns">
          <Activity
            subject={{ id: project.id, path: `/v1/projects/${project.id}` }}
            isReadOnly={project.archived_at !== null}
          />
          {canReadEvents && <ItemActivity project={project} />}
        </div>
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
