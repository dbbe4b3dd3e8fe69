import { useState } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { api, ifMatch } from '../api/client.ts';
import type { Project, ProjectPatch } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Health, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Card, Facts } from '../components/card.tsx';
import { Theirs } from '../components/conflict.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { HealthReasons, HealthRules } from '../components/health-reasons.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { useShortcut } from '../components/use-shortcut.ts';
import { Attributes } from '../fields/attributes.tsx';
import { Description } from '../fields/description.tsx';
import { EditButton } from '../fields/edit-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { formatDay, formatNumber, formatTime, pluralize } from '../format.ts';
import { ImportButton } from '../imports/import-button.tsx';
import { projectItemImports } from '../imports/targets.ts';
import { NewIssue } from '../issues/issue-form.tsx';
import { EditableTitle } from '../layout/editable-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { PersonLink } from '../personnel/person-link.tsx';
import { useReadablePerson } from '../personnel/queries.ts';
import { HeatMap } from '../risks/heat-map.tsx';
import { highestScore, useRiskModel } from '../risks/model.ts';
import { useHeatMap } from '../risks/queries.ts';
import { NewRisk } from '../risks/risk-form.tsx';
import { NewTask } from '../tasks/task-form.tsx';
import { useProjectEditor } from './project-form.tsx';
import { ProjectTabs } from './project-tabs.tsx';
import { useProject } from './queries.ts';
import './project-page.css';

export function ProjectPage() {
  const { key = '' } = useParams();
  return (
    <LoadedPage query={useProject(key)}>{(project) => <ProjectContents project={project} />}</LoadedPage>
  );
}

function ProjectContents({ project }: { project: Project }) {
  const editor = useProjectEditor(project);
  const [search] = useSearchParams();
  // Nothing is changed beside the risks of an earlier day.
  const isPast = search.has('as_of');
  return (
    <>
      <Head editor={isPast ? { ...editor, canEdit: false } : editor} canManage={!isPast} />
      <ProjectTabs project={project} overview={<Overview editor={editor} />} />
    </>
  );
}

type Props = { editor: Editor<ProjectPatch, Project> };

const Overview = ({ editor }: Props) => (
  <div className="columns">
    <div className="stack">
      <HealthCard project={editor.item} />
      <Description editor={editor} />
      <Matrix project={editor.item} />
    </div>
    <div className="stack">
      <Details editor={editor} />
      <Attributes editor={editor} />
    </div>
  </div>
);

/** What `c` creates in a tab; in the others it creates a risk. */
const createdIn: Record<string, 'issue' | 'task'> = { issues: 'issue', tasks: 'task' };

function Head({ editor, canManage }: Props & { canManage: boolean }) {
  const [open, setOpen] = useState<'risk' | 'issue' | 'task' | null>(null);
  const hasScope = useHasScope();
  const project = editor.item;
  const close = () => setOpen(null);
  const [search] = useSearchParams();
  useShortcut('c', () => {
    if (editor.canEdit) setOpen(createdIn[search.get('tab') ?? ''] ?? 'risk');
    return editor.canEdit;
  });
  return (
    <EditableTitle
      editor={editor}
      name="name"
      title={project.name}
      summary={
        <>
          <Health state={project.health.state} />
          <Status status={project.status} />
          {project.due_on && <span className="quiet">Due {formatDay(project.due_on)}</span>}
        </>
      }
      breadcrumbs={
        <>
          <Link href="/projects">Projects</Link> / {project.key}
        </>
      }
    >
      {editor.canEdit && (
        <>
          <Button icon="plus" onPress={() => setOpen('risk')}>
            Create risk
          </Button>
          <Button icon="plus" onPress={() => setOpen('issue')}>
            Create issue
          </Button>
          <ImportButton targets={projectItemImports(project)} />
          <EditButton editor={editor} />
        </>
      )}
      {canManage && hasScope('projects.manage') && (
        <>
          {project.archived_at === null ? <Archive project={project} /> : <Unarchive project={project} />}
          <DeleteButton {...editor}>
            This can't be undone. Only an empty project can be deleted; archive the project to keep its
            contents.
          </DeleteButton>
        </>
      )}
      {open === 'risk' && <NewRisk project={project.key} onClose={close} />}
      {open === 'issue' && <NewIssue project={project.key} onClose={close} />}
      {open === 'task' && <NewTask project={project.key} kind="work" onClose={close} />}
    </EditableTitle>
  );
}

function Unarchive({ project }: { project: Project }) {
  const write = useWrite();
  const unarchive = async () => {
    await write(
      api.POST('/v1/projects/{project_id}/unarchive', { params: { path: { project_id: project.id } } }),
    );
    toast(`Unarchived ${project.key}`);
  };
  return (
    <ActionButton icon="archive" act={unarchive}>
      Unarchive
    </ActionButton>
  );
}

const Archive = ({ project }: { project: Project }) => (
  <DialogButton icon="archive" dialog={(onClose) => <ArchiveDialog project={project} onClose={onClose} />}>
    Archive
  </DialogButton>
);

function ArchiveDialog({ project: live, onClose }: { project: Project; onClose: () => void }) {
  const { item: project, former } = useOpened(live);
  const write = useWrite();
  const archive = async () => {
    await write(
      api.POST('/v1/projects/{project_id}/archive', {
        params: { path: { project_id: project.id } },
        ...ifMatch(project),
      }),
    );
    toast(`Archived ${project.key}`);
  };
  return (
    <Confirm title={`Archive ${project.key}?`} action="Archive" act={archive} onClose={onClose}>
      <Theirs item={project} former={former} />
      <p>
        Its {pluralize(project.counts.active_risks + project.counts.opportunities, 'active risk')} and{' '}
        {pluralize(project.counts.open_issues, 'open issue')} become read-only and leave all totals. You can
        unarchive it later.
      </p>
    </Confirm>
  );
}

const HealthCard = ({ project: { key, health, counts, archived_at } }: { project: Project }) => (
  <Card id="health" title="Health">
    {archived_at && (
      <p className="notice">
        Archived {formatTime(archived_at)}. It is read-only and not part of any totals.
      </p>
    )}
    <HealthReasons health={health} />
    <HealthRules />
    <ul className="numbers">
      <Count href={`/risks?project=${key}&kind=threat`} count={counts.active_risks} name="Active risk" />
      <Count
        href={`/risks?project=${key}&kind=threat&assessed=false`}
        count={counts.unassessed_risks}
        name="Not assessed"
        plural="Not assessed"
      />
      {counts.opportunities > 0 && (
        <Count
          href={`/risks?project=${key}&kind=opportunity`}
          count={counts.opportunities}
          name="Opportunity"
          plural="Opportunities"
        />
      )}
      <Count href={`/issues?project=${key}`} count={counts.open_issues} name="Open issue" />
      <Count href={`/tasks?project=${key}&overdue=true`} count={counts.overdue_tasks} name="Overdue task" />
    </ul>
  </Card>
);

type CountProps = { href: string; count: number; name: string; plural?: string };

const Count = ({ href, count, name, plural = `${name}s` }: CountProps) => (
  <li>
    <Link href={href}>
      <strong>{formatNumber(count)}</strong> {count === 1 ? name : plural}
    </Link>
  </li>
);

function Matrix({ project: { key } }: { project: Project }) {
  const query = useHeatMap({ project: key, kind: 'threat' });
  return (
    <Card id="matrix" title="Risk matrix">
      <Loaded query={query}>
        {({ data }) => (
          <HeatMap
            cells={data}
            hrefOf={({ probability, impact }) =>
              `/risks?project=${key}&kind=threat&probability=${probability}&impact=${impact}`
            }
          />
        )}
      </Loaded>
    </Card>
  );
}

function Details({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const project = editor.item;
  const lead = useReadablePerson(project.lead_user_id) ?? null;
  const { data: model } = useRiskModel();
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          fact('status', <Status key="status" status={project.status} />),
          fact('key'),
          fact('lead_user_id', lead && <PersonLink key="lead" user_id={project.lead_user_id} />),
          fact('appetite', `${project.appetite}${model ? ` of ${highestScore(model)}` : ''}`),
          fact('acceptance'),
          fact('start_on'),
          fact('due_on'),
          fact('external_id'),
        ]}
      />
    </Card>
  );
}
