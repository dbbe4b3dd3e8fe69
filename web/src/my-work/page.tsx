import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Issue, Risk, Work } from '../api/openapi.ts';
import { useMe } from '../api/session.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { Loaded, PageLoading } from '../components/loading.tsx';
import { daysLater, formatNumber, pluralize } from '../format.ts';
import { IssueStatusDialog } from '../issues/issue-status.tsx';
import { Title } from '../layout/title.tsx';
import { WithGuide } from '../overview/guide.tsx';
import { useProjects } from '../projects/queries.ts';
import { Assess } from '../risks/assess.tsx';
import { ExtendAcceptance, HandOver, ReopenRisk, StillValid } from './dialogs.tsx';
import { type Entry, groupEntries } from './entries.ts';
import { Mentions } from './mentions.tsx';
import { type ActionName, WorkRow } from './row.tsx';
import './work.css';

/** The most that the service returns of each section. */
const limit = 100;
/** Of what is overdue or due soon, and of the rest. */
const maxUrgent = 25;
const maxOthers = 10;

/** What waits for the person who has signed in, the most urgent first. */
export function WorkPage() {
  const { user_id } = useMe();
  const query = useQuery({
    queryKey: ['work', user_id],
    queryFn: () => dataOrThrow(api.GET('/v1/me/work', { params: { query: { limit } } })),
  });
  return (
    <>
      <Title title="My work" />
      <Loaded query={query} loading={<PageLoading />}>
        {(work) => (isEmpty(work) ? <NothingToDo /> : <Contents work={work} />)}
      </Loaded>
    </>
  );
}

const isEmpty = ({ tasks, issues, risks, acceptances, mentions }: Work) =>
  [tasks, issues, risks, acceptances, mentions].every(({ total }) => total === 0);

function NothingToDo() {
  const projects = useProjects();
  const page = (
    <Empty title="You're all caught up" action={<ButtonLink href="/overview">View overview</ButtonLink>}>
      Tasks and issues assigned to you, risks you own, their reviews, acceptances that end soon, and comments
      that mention you appear here.
    </Empty>
  );
  return (
    <Loaded query={projects} loading={<PageLoading />}>
      {(all) => <WithGuide projects={all} page={page} />}
    </Loaded>
  );
}

type Opened = { entry: Entry; action: ActionName };

function Contents({ work }: { work: Work }) {
  // Here rather than in a row, which can leave the list while its dialog is open.
  const [opened, setOpened] = useState<Opened | null>(null);
  const groups = groupEntries(work);
  const { today } = work;
  const section = { today, open: (entry: Entry, action: ActionName) => setOpened({ entry, action }) };
  const latest = opened && (Object.values(groups).flat().find(isSame(opened.entry)) ?? opened.entry);
  return (
    <div className="stack work">
      <Totals work={work} />
      <Section {...section} id="overdue" title="Overdue" entries={groups.overdue} max={maxUrgent} />
      <Section {...section} id="due-soon" title="Due soon" entries={groups.soon} max={maxUrgent} />
      <Section {...section} id="work-tasks" title="Tasks" entries={groups.tasks} max={maxOthers} />
      <Section {...section} id="work-issues" title="Issues" entries={groups.issues} max={maxOthers} />
      <Section {...section} id="work-risks" title="Risks" entries={groups.risks} max={maxOthers} />
      <Mentions mentions={work.mentions} />
      {opened && latest && (
        <ActionDialog entry={latest} action={opened.action} onClose={() => setOpened(null)} />
      )}
    </div>
  );
}

const isSame = (one: Entry) => (other: Entry) => one.item.id === other.item.id;

type DialogProps = { entry: Entry; action: ActionName; onClose: () => void };

/** The actions of each kind are offered only in its rows. */
function ActionDialog({ entry, action, onClose }: DialogProps) {
  switch (action) {
    case 'hand-over':
      return <HandOver entry={entry} onClose={onClose} />;
    case 'still-valid':
      return <StillValid risk={entry.item as Risk} onClose={onClose} />;
    case 'extend':
      return <ExtendAcceptance risk={entry.item as Risk} onClose={onClose} />;
    case 'reopen':
      return <ReopenRisk risk={entry.item as Risk} onClose={onClose} />;
    case 'reassess':
      return <Assess risk={entry.item as Risk} onClose={onClose} />;
    default:
      return <IssueStatusDialog issue={entry.item as Issue} to={action} onClose={onClose} />;
  }
}

type SectionProps = {
  id: string;
  title: string;
  entries: readonly Entry[];
  max: number;
  today: string;
  open: (entry: Entry, action: ActionName) => void;
};

function Section({ id, title, entries, max, today, open }: SectionProps) {
  const [isExpanded, setExpanded] = useState(false);
  if (entries.length === 0) return null;
  const shown = isExpanded ? entries : entries.slice(0, max);
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>
        {title} <span className="quiet">{formatNumber(entries.length)}</span>
      </h2>
      <ul className="lines work-rows">
        {shown.map((entry) => (
          <WorkRow
            key={`${entry.kind} ${entry.item.id}`}
            entry={entry}
            today={today}
            open={(action) => open(entry, action)}
          />
        ))}
      </ul>
      {shown.length < entries.length && (
        <Button small plain onPress={() => setExpanded(true)}>
          Show {formatNumber(entries.length - shown.length)} more
        </Button>
      )}
    </section>
  );
}

/** How much there is of each kind, linked to the lists. No list has issues that are either owned or assigned. */
function Totals({ work }: { work: Work }) {
  const { tasks, issues, risks, reviews, acceptances } = work;
  const reviewsBefore = daysLater(work.today, 15);
  const parts: ReactNode[] = [
    tasks.total > 0 && (
      <Link key="tasks" href="/tasks?assignee_user_id=me">
        {pluralize(tasks.total, 'task')}
      </Link>
    ),
    issues.total > 0 && (
      <span key="issues">
        {pluralize(issues.total, 'issue')} (<Link href="/issues?assignee_user_id=me">assigned</Link>,{' '}
        <Link href="/issues?owner_user_id=me">owned</Link>)
      </span>
    ),
    risks.total > 0 && (
      <Link key="risks" href="/risks?owner_user_id=me">
        {pluralize(risks.total, 'risk')}
      </Link>
    ),
    reviews.total > 0 && (
      <Link key="reviews" href={`/risks?owner_user_id=me&review_before=${reviewsBefore}`}>
        {pluralize(reviews.total, 'review')} due
      </Link>
    ),
    acceptances.total > 0 && (
      <span key="acceptances">
        {pluralize(acceptances.total, 'acceptance')}{' '}
        <Link href="/risks?owner_user_id=me&status=accepted">ending soon</Link>
      </span>
    ),
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <p className="work-totals">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
        <span key={index}>
          {index > 0 && ' · '}
          {part}
        </span>
      ))}
    </p>
  );
}
