import { Link } from 'wouter';
import type { Project } from '../api/openapi.ts';
import { Health, Score, Status } from '../components/badges.tsx';
import { dayColumn, updatedColumn } from '../components/columns.tsx';
import { HealthReasonsLine } from '../components/health-reasons.tsx';
import type { Column } from '../components/table.tsx';
import { formatNumber } from '../format.ts';

export const projectColumns: readonly Column<Project>[] = [
  {
    name: 'health',
    header: 'Health',
    width: 6.5,
    sorts: [''],
    cell: ({ health }) => <Health state={health.state} />,
  },
  {
    name: 'name',
    header: 'Project',
    isPinned: true,
    sorts: ['name', '-name'],
    cell: ({ key, name, health }) => (
      <>
        <Link className="row-link" href={`/projects/${key}`} title={name}>
          <bdi>{name}</bdi>
        </Link>
        <span className="secondary-line reasons-line">
          <HealthReasonsLine health={health} />
        </span>
      </>
    ),
  },
  {
    name: 'reasons',
    header: 'Reasons',
    width: 23,
    from: 'desktop',
    cell: ({ health }) => (
      <span className="quiet all-lines">
        <HealthReasonsLine health={health} />
      </span>
    ),
  },
  {
    name: 'key',
    header: 'Key',
    width: 7,
    from: 'wide',
    cell: ({ key }) => <span className="key">{key}</span>,
  },
  {
    name: 'status',
    header: 'Status',
    sorts: ['status', '-status'],
    width: 7,
    from: 'tablet',
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'top',
    header: 'Top score',
    width: 6.5,
    from: 'tablet',
    sorts: ['-top', 'top'],
    cell: ({ counts: { top_score, top_level } }) => <Score score={top_score} level={top_level} />,
  },
  {
    name: 'risks',
    header: 'Risks',
    width: 5,
    sorts: ['-risks', 'risks'],
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.active_risks),
  },
  {
    name: 'opportunities',
    header: 'Opportunities',
    width: 8,
    end: true,
    isOptional: true,
    cell: ({ counts }) => formatNumber(counts.opportunities),
  },
  {
    name: 'issues',
    header: 'Issues',
    width: 5,
    sorts: ['-issues', 'issues'],
    end: true,
    from: 'tablet',
    cell: ({ counts }) => formatNumber(counts.open_issues),
  },
  dayColumn('due', 'Due', 'due_on', { from: 'wide', sorts: ['due', '-due'] }),
  dayColumn('start', 'Start', 'start_on', { isOptional: true, sorts: ['start', '-start'] }),
  {
    name: 'overdue',
    header: 'Overdue',
    label: 'Overdue tasks',
    width: 6,
    isOptional: true,
    sorts: ['-overdue', 'overdue'],
    end: true,
    cell: ({ counts }) => formatNumber(counts.overdue_tasks),
  },
  {
    name: 'appetite',
    header: 'Risk appetite (score)',
    width: 10,
    isOptional: true,
    end: true,
    cell: ({ appetite }) => appetite,
  },
  updatedColumn,
];
