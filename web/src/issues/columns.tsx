import type { Issue } from '../api/openapi.ts';
import type { RowAction } from '../bulk/row-menu.tsx';
import { DueDay, Severity, TitleCell } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import {
  ownerColumn,
  projectColumn,
  raisedColumn,
  statusColumn,
  updatedColumn,
} from '../components/columns.tsx';
import type { Column } from '../components/table.tsx';
import { formatNumber, humanize } from '../format.ts';
import { Assignee, AssigneeName } from './assign.tsx';
import { ResolveIssue } from './issue-form.tsx';

export const issueColumns: readonly Column<Issue>[] = [
  {
    name: 'severity',
    edits: 'severity',
    header: 'Severity',
    width: 5.6,
    sorts: [''],
    isReversed: true,
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    name: 'title',
    header: 'Issue',
    isPinned: true,
    sorts: ['title', '-title'],
    cell: (issue) => <TitleCell {...issue} href={`/issues/${issue.key}`} />,
  },
  {
    name: 'priority',
    edits: 'priority',
    header: 'Priority',
    width: 5.5,
    from: 'desktop',
    sorts: ['priority', '-priority'],
    cell: ({ priority }) => humanize(priority),
  },
  statusColumn,
  {
    name: 'age',
    header: 'Age',
    width: 4.5,
    sorts: ['raised_on', '-raised_on'],
    isReversed: true,
    end: true,
    from: 'desktop',
    cell: ({ age_days }) => `${formatNumber(age_days)} d`,
  },
  {
    name: 'due',
    edits: 'due_on',
    header: 'Due',
    width: 7.5,
    sorts: ['due_on', '-due_on'],
    from: 'tablet',
    onPhone: true,
    cell: ({ due_on, overdue }) => due_on && <DueDay day={due_on} isOverdue={overdue} />,
  },
  {
    name: 'assignee',
    edits: 'assignee_user_id',
    header: 'Assignee',
    width: 9.5,
    from: 'tablet',
    onPhone: ({ assignee_name }) => <AssigneeName name={assignee_name} />,
    sorts: ['assignee_name', '-assignee_name'],
    cell: (issue) => <Assignee issue={issue} />,
  },
  { ...ownerColumn, isOptional: true, onPhone: false },
  projectColumn,
  raisedColumn,
  updatedColumn,
];

const isOpen = ({ status }: Issue) => !['resolved', 'closed'].includes(status);

export const resolveAction: RowAction<Issue> = {
  label: 'Resolve…',
  isOffered: isOpen,
  dialog: (issue, onClose) => <ResolveIssue issue={issue} onClose={onClose} />,
};

export const resolveColumn = (resolve: (issue: Issue) => void): Column<Issue> => ({
  name: 'actions',
  header: 'Actions',
  isPinned: true,
  width: 5.6,
  end: true,
  from: 'desktop',
  cell: (issue) =>
    isOpen(issue) && (
      <Button small aria-label={`Resolve ${issue.key}`} onPress={() => resolve(issue)}>
        Resolve
      </Button>
    ),
});
