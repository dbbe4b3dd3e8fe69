import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { Health, Person, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { History } from '../components/history.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { day, number, time } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { insideProject } from '../imports/importables.ts';
import { NewIssue } from '../issues/issue-form.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { HeatMap } from '../risks/heat-map.tsx';
import { useHeatMap } from '../risks/queries.ts';
import { NewRisk } from '../risks/risk-form.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { EditProject } from './project-form.tsx';
import './project-page.css';

export function ProjectPage() {
  const { key = '' } = useParams();
  const query = useQuery({
    queryKey: ['project', key],
    queryFn: () => answerOf(api.GET('/v1/projects/{project_id}', { params: { path: { project_id: key } } })),
  });
  return (
    <LoadedPage query={query}>
      {(project) => (
        <>
          <Head project={project} />
          <div className="columns">
            <div className="stack">
              <HealthCard project={project} />
              {project.description && (
                <section className="card" aria-labelledby="description">
                  <h2 id="description">Description</h2>
                  <p className="long" dir="auto">
                    {project.description}
                  </p>
                </section>
              )}
              <Tasks project={project.key} kind="work" />
            </div>
            <div className="stack">
              <Matrix project={project} />
              <Details project={project} />
              <History
                of={project.id}
                read={(client) =>
                  client.GET('/v1/projects/{project_id}/history', {
                    params: { path: { project_id: project.id } },
                  })
                }
              />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

function Head({ project }: { project: Project }) {
  const [open, setOpen] = useState<'edit' | 'risk' | 'issue' | 'archive' | 'delete' | null>(null);
  const may = useMay();
  const lead = useLead(project);
  const close = () => setOpen(null);
  return (
    <Title
      title={project.name}
      above={
        <>
          <Link href="/projects">Projects</Link> / {project.key}
        </>
      }
    >
      {may('projects.manage') && (
        <>
          {project.archived_at === null && (
            <>
              <Button icon="plus" onPress={() => setOpen('risk')}>
                Risk
              </Button>
              <Button icon="plus" onPress={() => setOpen('issue')}>
                Issue
              </Button>
              <ImportButton among={insideProject(project.key)} />
              <Button icon="edit" onPress={() => setOpen('edit')}>
                Edit
              </Button>
            </>
          )}
          <ArchiveButton project={project} onPress={() => setOpen('archive')} />
          <Button plain icon="trash" aria-label="Delete" onPress={() => setOpen('delete')} />
        </>
      )}
      {open === 'edit' && <EditProject project={project} lead={lead} onClose={close} />}
      {open === 'risk' && <NewRisk project={project.key} onClose={close} />}
      {open === 'issue' && <NewIssue project={project.key} onClose={close} />}
      {open === 'archive' && <Archive project={project} onClose={close} />}
      {open === 'delete' && <Delete project={project} onClose={close} />}
    </Title>
  );
}

function useLead({ lead_user_id }: Project): string | null {
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['person', lead_user_id],
    enabled: lead_user_id !== null && may('personnel.read'),
    queryFn: () =>
      answerOf(api.GET('/v1/personnel/{user_id}', { params: { path: { user_id: lead_user_id ?? '' } } })),
  });
  return data?.name ?? null;
}

function ArchiveButton({ project, onPress }: { project: Project; onPress: () => void }) {
  const refresh = useRefresh();
  const unarchive = async () => {
    await answerOf(
      api.POST('/v1/projects/{project_id}/unarchive', { params: { path: { project_id: project.id } } }),
    );
    await refresh();
    toast(`${project.key} is back.`);
  };
  return project.archived_at === null ? (
    <Button icon="archive" onPress={onPress}>
      Archive
    </Button>
  ) : (
    <Button icon="archive" onPress={() => unarchive().catch((error: Error) => toast(error.message))}>
      Unarchive
    </Button>
  );
}

function Archive({ project, onClose }: { project: Project; onClose: () => void }) {
  const refresh = useRefresh();
  const archive = async () => {
    await answerOf(
      api.POST('/v1/projects/{project_id}/archive', {
        params: { path: { project_id: project.id } },
        ...ifMatch(project),
      }),
    );
    await refresh();
    toast(`${project.key} is archived.`);
  };
  return (
    <Confirm title={`Archive ${project.key}?`} action="Archive" act={archive} onClose={onClose}>
      <p>
        All that is in it is frozen, and leaves the register and the open issues:{' '}
        {number(project.counts.active_risks)} active risks and {number(project.counts.open_issues)} open
        issues. It can be unarchived.
      </p>
    </Confirm>
  );
}

function Delete({ project, onClose }: { project: Project; onClose: () => void }) {
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const remove = async () => {
    await answerOf(
      api.DELETE('/v1/projects/{project_id}', {
        params: { path: { project_id: project.id } },
        ...ifMatch(project),
      }),
    );
    navigate('/projects');
    await refresh();
    toast(`${project.key} is deleted.`);
  };
  return (
    <Confirm title={`Delete ${project.key}?`} action="Delete" danger act={remove} onClose={onClose}>
      <p>
        Only an empty project can be deleted, and it cannot be taken back. To put one aside with all it holds,
        archive it.
      </p>
    </Confirm>
  );
}

const HealthCard = ({ project: { key, health, counts, archived_at } }: { project: Project }) => (
  <section className="card" aria-labelledby="health">
    <h2 id="health">
      <Health state={health.state} />
    </h2>
    {archived_at && (
      <p className="notice">
        Archived {time(archived_at)}: nothing in it can be changed, and no roll-up shows it.
      </p>
    )}
    {health.reasons.length > 0 && (
      <ul className="why-list">
        {health.reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    )}
    <ul className="numbers">
      <Count href={`/risks?project=${key}`} count={counts.active_risks} name="active risks" />
      <Count
        href={`/risks?project=${key}&assessed=false`}
        count={counts.unassessed_risks}
        name="not assessed"
      />
      <Count href={`/issues?project=${key}`} count={counts.open_issues} name="open issues" />
      <li>
        <strong>{number(counts.overdue_tasks)}</strong> overdue tasks
      </li>
    </ul>
  </section>
);

const Count = ({ href, count, name }: { href: string; count: number; name: string }) => (
  <li>
    <Link href={href}>
      <strong>{number(count)}</strong> {name}
    </Link>
  </li>
);

function Matrix({ project: { key } }: { project: Project }) {
  const query = useHeatMap({ project: key });
  return (
    <section className="card" aria-labelledby="matrix">
      <h2 id="matrix">Its risks</h2>
      <Loaded query={query}>
        {({ data }) => (
          <HeatMap
            cells={data}
            hrefOf={({ probability, impact }) =>
              `/risks?project=${key}&probability=${probability}&impact=${impact}`
            }
          />
        )}
      </Loaded>
    </section>
  );
}

function Details({ project }: { project: Project }) {
  const lead = useLead(project);
  return (
    <section className="card" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        facts={[
          ['Status', <Status key="status" status={project.status} />],
          [
            'Lead',
            lead && (
              <Link key="lead" href={`/personnel/${project.lead_user_id}`}>
                <Person name={lead} />
              </Link>
            ),
          ],
          ['Appetite', `${project.appetite} of 25`],
          ['Start', project.start_on && day(project.start_on)],
          ['Due', project.due_on && day(project.due_on)],
          ['Your id', project.external_id],
        ]}
      />
    </section>
  );
}
