import type { Task } from '../api/openapi.ts';
import { DueDay, TitleCell } from '../components/badges.tsx';
import { dayColumn, projectColumn, statusColumn, updatedColumn } from '../components/columns.tsx';
import type { Column } from '../components/table.tsx';
import { humanize } from '../format.ts';
import { AssigneeName } from '../issues/assign.tsx';
import { CompleteTask, isOverdue } from './tasks.tsx';

export const taskColumns: readonly Column<Task>[] = [
  {
    name: 'due',
    edits: 'due_on',
    header: 'Due',
    width: 7.5,
    from: 'tablet',
    onPhone: true,
    sorts: ['', '-due_on'],
    cell: (task) => task.due_on && <DueDay day={task.due_on} isOverdue={isOverdue(task)} />,
  },
  {
    name: 'title',
    header: 'Task',
    isPinned: true,
    sorts: ['title', '-title'],
    cell: (task) => <TitleCell {...task} href={`/tasks/${task.key}`} />,
  },
  {
    name: 'kind',
    header: 'Kind',
    width: 6.5,
    from: 'desktop',
    sorts: ['kind', '-kind'],
    cell: ({ kind }) => humanize(kind),
  },
  statusColumn,
  {
    name: 'assignee',
    edits: 'assignee_user_id',
    header: 'Assignee',
    width: 10.5,
    from: 'tablet',
    onPhone: true,
    sorts: ['assignee_name', '-assignee_name'],
    cell: ({ assignee_name }) => <AssigneeName name={assignee_name} />,
  },
  projectColumn,
  dayColumn('start', 'Start', 'start_on', { isOptional: true, sorts: ['start_on', '-start_on'] }),
  updatedColumn,
];

export const doneColumn: Column<Task> = {
  name: 'actions',
  header: 'Actions',
  isPinned: true,
  width: 4.5,
  end: true,
  from: 'tablet',
  cell: (task) => <CompleteTask task={task} />,
};
