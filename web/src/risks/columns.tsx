import type { RankedRisk } from '../api/openapi.ts';
import type { RowAction } from '../bulk/row-menu.tsx';
import { DueDay, hasMoved, Movement, Score, Status, TitleCell } from '../components/badges.tsx';
import {
  ownerColumn,
  projectColumn,
  raisedColumn,
  statusColumn,
  updatedColumn,
} from '../components/columns.tsx';
import type { Column } from '../components/table.tsx';
import { capitalize, formatNumber, humanize } from '../format.ts';
import type { Period } from '../period/period.ts';
import { Assess } from './assess.tsx';

export const rateAction: RowAction<RankedRisk> = {
  label: 'Rate…',
  dialog: (risk, onClose) => <Assess risk={risk} onClose={onClose} />,
};

type Options = { isFiltered: boolean; hasMovement: boolean; period: Period };

/** Filters change the ranks, so the header says that they are not the ranks among all risks. */
export const riskColumns = ({
  isFiltered,
  hasMovement,
  period: { since, header },
}: Options): readonly Column<RankedRisk>[] => [
  {
    name: 'rank',
    header: isFiltered ? 'Rank in filter' : 'Rank',
    label: 'Rank',
    width: isFiltered ? 6.4 : 3.2,
    // A phone has no room for the long header.
    ...(isFiltered && { from: 'tablet' }),
    end: true,
    sorts: [''],
    cell: ({ rank }) => rank && formatNumber(rank),
  },
  {
    name: 'movement',
    header,
    // A day takes more room than a number of days.
    width: header.length * 0.42 + 0.9,
    from: 'laptop',
    onPhone: (risk) => hasMoved(risk, since) && <Movement risk={risk} since={since} />,
    isHidden: !hasMovement,
    sorts: ['-change', 'change'],
    cell: (risk) => <Movement risk={risk} since={since} />,
  },
  {
    name: 'score',
    header: 'Score',
    width: 3.6,
    sorts: ['-score', 'score'],
    edits: 'rating',
    cell: ({ score, level, kind }) => <Score {...{ score, level, kind }} />,
  },
  {
    name: 'title',
    header: 'Risk',
    isPinned: true,
    sorts: ['title', '-title'],
    cell: (risk) => <TitleCell {...risk} href={`/risks/${risk.key}`} />,
  },
  {
    ...statusColumn,
    width: 6.3,
    cell: ({ status, kind }: RankedRisk) => <Status status={status} kind={kind} />,
  },
  ownerColumn,
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    from: 'desktop',
    onPhone: true,
    sorts: ['due_on', '-due_on'],
    edits: 'due_on',
    cell: ({ due_on, checks }) =>
      due_on && <DueDay day={due_on} isOverdue={checks.includes('due_overdue')} />,
  },
  projectColumn,
  {
    name: 'category',
    header: 'Category',
    width: 8,
    isOptional: true,
    sorts: ['category', '-category'],
    edits: 'category',
    cell: ({ category }) => category && <bdi>{capitalize(category)}</bdi>,
  },
  { name: 'kind', header: 'Kind', width: 6.5, isOptional: true, cell: ({ kind }) => humanize(kind) },
  {
    name: 'residual',
    header: 'Residual',
    label: 'Residual score',
    width: 5.5,
    isOptional: true,
    sorts: ['-residual_score', 'residual_score'],
    cell: ({ residual_score, residual_level, kind }) => (
      <Score score={residual_score} level={residual_level} kind={kind} />
    ),
  },
  {
    name: 'strategy',
    edits: 'strategy',
    header: 'Strategy',
    width: 6.5,
    isOptional: true,
    cell: ({ strategy }) => strategy && humanize(strategy),
  },
  {
    name: 'review',
    edits: 'review_on',
    header: 'Review',
    width: 7.5,
    isOptional: true,
    sorts: ['review_on', '-review_on'],
    cell: ({ review_on, checks }) =>
      review_on && <DueDay day={review_on} isOverdue={checks.includes('review_overdue')} />,
  },
  {
    name: 'tasks',
    header: 'Tasks',
    label: 'Tasks done',
    width: 5,
    end: true,
    isOptional: true,
    cell: ({ tasks_done, tasks_total }) =>
      tasks_total > 0 && `${formatNumber(tasks_done)} of ${formatNumber(tasks_total)}`,
  },
  raisedColumn,
  updatedColumn,
];
