import type { ReactNode } from 'react';
import type { FullReport, ReportIssue, ReportProject, ReportRisk, ReportTopRisk } from '../../api/openapi.ts';
import { DueDay, Health, Movement, Score, Severity } from '../../components/badges.tsx';
import { Card } from '../../components/card.tsx';
import { HealthReasons } from '../../components/health-reasons.tsx';
import { MarkdownLine, MarkdownText } from '../../components/markdown-text.tsx';
import { useIsPhone } from '../../components/use-is-phone.ts';
import { formatDay, formatNumber, pluralize } from '../../format.ts';
import { levelLabel, useRiskModel } from '../../risks/model.ts';
import { Why } from '../changes.tsx';
import { countIn, RegisterTable } from '../comparison.tsx';
import { dateKinds, listOf } from '../dates.ts';
import { blockedName, countOf, decisionNames } from '../decision-names.ts';
import { ItemGroup, ItemName, type ReportColumn, ReportTable } from '../tables.tsx';
import { sectionsOf } from './queries.ts';

type Section = FullReport['sections'][number];

/** A saved report. `comparison` follows the top risks. */
export function ReportDocument({ report, comparison }: { report: FullReport; comparison: ReactNode }) {
  const { length, sections, content } = report;
  const isShown = (section: Section) => sections.includes(section) && sectionsOf[length].includes(section);
  const isOnePage = length === 'one_page';
  const { changes } = content;
  return (
    <div className={`stack ${length}`}>
      <Headline report={report} />
      {report.commentary && <MarkdownText text={report.commentary} />}
      {isShown('top_risks') && (
        <Card id="top-risks" title="Top risks">
          <TopRisks report={report} risks={content.top_risks.slice(0, isOnePage ? 5 : 10)} />
        </Card>
      )}
      {!isOnePage && comparison}
      {isShown('opportunities') && content.opportunities.length > 0 && (
        <Card id="opportunities" title="Top opportunities">
          <TopRisks report={report} risks={content.opportunities} />
        </Card>
      )}
      {isShown('decisions') && (
        <Card id="decisions" title="Decisions needed">
          <div className="decisions">
            {content.decisions.map(({ check, total, items }) => (
              <Risks
                key={check}
                title={countOf(decisionNames[check as keyof typeof decisionNames], total)}
                isCounted
                total={total}
                risks={items}
              />
            ))}
            <Issues
              title={countOf(blockedName, content.blocked_issues.total)}
              isCounted
              {...content.blocked_issues}
            />
          </div>
        </Card>
      )}
      {isShown('dates') && <Dates report={report} />}
      {isShown('register') && (
        <Card id="register" title="Risk register">
          <RegisterTable register={content.register} since={report.since} after={formatDay(report.day)} />
        </Card>
      )}
      {isShown('changes') && (
        <Card id="changes" title={`Changes since ${formatDay(report.since)}`}>
          <div className="changes">
            <Risks title="New risks" total={changes.added.total} risks={changes.added.items} />
            <Risks title="Reopened risks" total={changes.reopened.total} risks={changes.reopened.items} />
            <Risks title="Score increased" total={changes.up.total} risks={changes.up.items} />
            <Risks title="Score decreased" total={changes.down.total} risks={changes.down.items} />
            <Risks title="Occurred" total={changes.occurred.total} risks={changes.occurred.items} />
            <Risks title="Closed risks" total={changes.closed.total} risks={changes.closed.items} />
            <Issues title="New issues" {...changes.raised_issues} />
            <Issues title="Resolved or closed issues" {...changes.resolved_issues} />
          </div>
        </Card>
      )}
      {isShown('overdue_issues') && (
        <Card id="overdue" title="Overdue issues">
          <IssueTable {...content.overdue_issues} />
        </Card>
      )}
      {isShown('projects') && (
        <Card id="projects" title="Projects">
          <ProjectTable report={report} />
        </Card>
      )}
      {isShown('project_pages') && <ProjectPages report={report} />}
    </div>
  );
}

function Headline({ report: { content, since } }: { report: FullReport }) {
  const { data: model } = useRiskModel();
  const { register, projects, issues } = content;
  const critical = countIn(register.after, 'critical');
  const change = critical - countIn(register.before, 'critical');
  const offTrack = projects.items.filter(({ health }) => health.state === 'off_track').length;
  return (
    <p className="headline">
      {formatNumber(offTrack)} of {pluralize(projects.total, 'project')} {offTrack === 1 ? 'is' : 'are'} off
      track; {pluralize(critical, `${levelLabel(model, 'critical').toLowerCase()} risk`)},{' '}
      {change === 0
        ? 'unchanged'
        : `${formatNumber(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than on ${formatDay(since)}`}
      ; {formatNumber(issues.overdue)} of {pluralize(issues.open, 'open issue')} overdue.
    </p>
  );
}

/** Numbered, with the project, the response and the next step of each, which on a phone is below the risk. */
const TopRisks = ({ report, risks }: { report: FullReport; risks: readonly ReportTopRisk[] }) => {
  const isPhone = useIsPhone();
  const comments = new Map(report.risk_commentary.map(({ risk_id, text }) => [risk_id, text]));
  const columns: ReportColumn<ReportTopRisk>[] = [
    { header: 'No.', cell: (risk) => risks.indexOf(risk) + 1 },
    { header: 'Score', cell: (risk) => <Score {...risk} /> },
    { header: 'Change', cell: (risk) => <Movement risk={risk} since={report.since} /> },
    {
      header: 'Risk',
      className: 'third',
      cell: (risk) => (
        <>
          <ItemName list="risks" item={risk} />
          <p className="quiet">
            <bdi>{risk.project_name}</bdi> · <bdi>{risk.owner_name ?? 'No owner'}</bdi>
          </p>
          {comments.has(risk.id) && <MarkdownText text={comments.get(risk.id) ?? ''} />}
          {isPhone && (
            <div>
              <span className="quiet">Next step:</span> <NextStep risk={risk} />
            </div>
          )}
        </>
      ),
    },
    { header: 'Response', className: 'quarter from-tablet', cell: (risk) => <Response risk={risk} /> },
    ...(isPhone ? [] : [{ header: 'Next step', cell: (risk: ReportTopRisk) => <NextStep risk={risk} /> }]),
  ];
  if (risks.length === 0) return <p className="quiet">No active risks</p>;
  return <ReportTable columns={columns} rows={risks} rowKey={({ id }) => id} />;
};

const Response = ({ risk: { response_plan } }: { risk: ReportTopRisk }) =>
  response_plan ? (
    <span className="clamped">
      <MarkdownLine text={response_plan} />
    </span>
  ) : (
    <span className="quiet">None</span>
  );

const NextStep = ({ risk: { next_task } }: { risk: ReportTopRisk }) =>
  next_task ? (
    <>
      <ItemName list="tasks" item={next_task} />
      <p className="quiet">
        {next_task.due_on ? `Due ${formatDay(next_task.due_on)}` : 'No due date'} ·{' '}
        <bdi>{next_task.assignee_name ?? 'Unassigned'}</bdi>
      </p>
    </>
  ) : (
    <span className="quiet">No open task</span>
  );

/** Few, because the lists of a report of five pages share two of them. */
const maxShown = 3;

type ListProps = {
  title: string;
  /** Whether the title has the number. */
  isCounted?: boolean;
  total: number;
};

const Group = ({ children, ...list }: ListProps & { children: ReactNode }) => (
  <ItemGroup {...list} shown={maxShown} more={`and ${formatNumber(list.total - maxShown)} more`}>
    {children}
  </ItemGroup>
);

const Risks = ({ risks, ...list }: ListProps & { risks: readonly ReportRisk[] }) => (
  <Group {...list}>
    {risks.slice(0, maxShown).map((risk) => (
      <li key={risk.id}>
        <Score {...risk} /> <ItemName list="risks" item={risk} /> <Why risk={risk} />
      </li>
    ))}
  </Group>
);

type IssuesProps = ListProps & { items: readonly ReportIssue[] };

const Issues = ({ items, ...list }: IssuesProps) => (
  <Group {...list}>
    {items.slice(0, maxShown).map((issue) => (
      <li key={issue.id}>
        <Severity severity={issue.severity} /> <ItemName list="issues" item={issue} />
      </li>
    ))}
  </Group>
);

const issueColumns: readonly ReportColumn<ReportIssue>[] = [
  { header: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
  { header: 'Issue', className: 'wide', cell: (issue) => <ItemName list="issues" item={issue} /> },
  {
    header: 'Assignee',
    className: 'from-tablet',
    cell: ({ assignee_name }) => assignee_name ?? 'Unassigned',
  },
  {
    header: 'Due',
    className: 'day',
    cell: ({ due_on, overdue }) => due_on && <DueDay day={due_on} isOverdue={overdue} />,
  },
];

const IssueTable = ({ total, items }: Pick<IssuesProps, 'total' | 'items'>) =>
  total === 0 ? (
    <p className="quiet">No overdue issues</p>
  ) : (
    <>
      <ReportTable columns={issueColumns} rows={items} rowKey={({ id }) => id} />
      {total > items.length && <p className="more">and {formatNumber(total - items.length)} more</p>}
    </>
  );

const Dates = ({ report: { content } }: { report: FullReport }) => {
  const { overdue, next, first_overdue, first_next } = content.dates;
  const sum = (counts: readonly { count: number }[]) => counts.reduce((all, { count }) => all + count, 0);
  const list = (title: string, total: number, dates: typeof first_next) => (
    <ItemGroup
      title={title}
      total={total}
      shown={dates.length}
      more={`and ${formatNumber(total - dates.length)} more`}
    >
      {dates.map(({ day, kind, key, title: name, person }) => (
        <li key={`${kind} ${key}`}>
          <span className="day">{formatDay(day)}</span>{' '}
          <ItemName list={listOf[kind]} item={{ key, title: name }} />{' '}
          <span className="quiet">
            · {dateKinds[kind]} · <bdi>{person ?? 'Unassigned'}</bdi>
          </span>
        </li>
      ))}
    </ItemGroup>
  );
  return (
    <Card id="dates" title="Due in the next 90 days">
      <div className="changes">
        {list('Overdue', sum(overdue), first_overdue)}
        {list('Next 90 days', sum(next), first_next)}
      </div>
    </Card>
  );
};

const commentOn = ({ project_commentary }: FullReport, { id }: ReportProject) =>
  project_commentary.find(({ project_id }) => project_id === id)?.text;

const maxProjects = { one_page: 8, five_pages: 15, full: 500 };

/** On one page, a comment takes the room of two projects. */
function shownProjects(report: FullReport): ReportProject[] {
  const { length, content } = report;
  const shown = content.projects.items.slice(0, maxProjects[length]);
  if (length !== 'one_page') return shown;
  let room = 12;
  return shown.filter((project) => {
    const isShown = room > 0;
    room -= commentOn(report, project) ? 3 : 1;
    return isShown;
  });
}

function ProjectTable({ report }: { report: FullReport }) {
  const { total } = report.content.projects;
  const shown = shownProjects(report);
  const columns: ReportColumn<ReportProject>[] = [
    {
      header: 'Project',
      className: 'fill',
      cell: (project) => {
        const comment = commentOn(report, project);
        return (
          <>
            <bdi>{project.name}</bdi> <span className="key">{project.key}</span>
            {comment && <MarkdownText text={comment} />}
          </>
        );
      },
    },
    { header: 'Health', cell: ({ health }) => <Health state={health.state} /> },
    { header: 'Top score', cell: ({ counts }) => counts.top_score ?? '–' },
    {
      header: 'Active risks',
      className: 'from-tablet',
      cell: ({ counts }) => formatNumber(counts.active_risks),
    },
    {
      header: 'Open issues',
      className: 'from-tablet',
      cell: ({ counts }) => formatNumber(counts.open_issues),
    },
    { header: 'Due', className: 'from-tablet day', cell: ({ due_on }) => due_on && formatDay(due_on) },
  ];
  return (
    <>
      <ReportTable columns={columns} rows={shown} rowKey={({ id }) => id} />
      {total > shown.length && <p className="more">and {formatNumber(total - shown.length)} more</p>}
    </>
  );
}

const ProjectPages = ({ report }: { report: FullReport }) =>
  report.content.projects.items.map(
    (project) =>
      project.page && (
        <section key={project.id} className="card project-section" aria-labelledby={`project-${project.id}`}>
          <header>
            <h2 id={`project-${project.id}`}>
              <bdi>{project.name}</bdi> <span className="key">{project.key}</span>
            </h2>
            <Health state={project.health.state} />
          </header>
          <HealthReasons health={project.health} />
          <h3>Top risks</h3>
          <ul>
            {project.page.top_risks.map((risk) => (
              <li key={risk.id}>
                <Score {...risk} /> <ItemName list="risks" item={risk} />
              </li>
            ))}
          </ul>
          <h3>Overdue issues</h3>
          <IssueTable {...project.page.overdue_issues} />
        </section>
      ),
  );
