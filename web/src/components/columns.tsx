import { formatDay, formatDayOf } from '../format.ts';
import { NoOwner } from '../personnel/person-link.tsx';
import { PersonLabel, Status } from './badges.tsx';

/** The columns that several lists have. */

export const statusColumn = {
  name: 'status',
  header: 'Status',
  width: 6.6,
  sorts: ['status', '-status'],
  from: 'tablet',
  cell: ({ status }: { status: string }) => <Status status={status} />,
} as const;

export const ownerColumn = {
  name: 'owner',
  header: 'Owner',
  width: 8.5,
  sorts: ['owner_name', '-owner_name'],
  from: 'tablet',
  cell: ({ owner_name }: { owner_name: string | null }) =>
    owner_name ? <PersonLabel name={owner_name} /> : <NoOwner />,
} as const;

export const projectColumn = {
  name: 'project',
  header: 'Project',
  width: 10,
  isOptional: true,
  sorts: ['project_name', '-project_name'],
  cell: ({ project_name }: { project_name: string }) => <bdi>{project_name}</bdi>,
} as const;

export const raisedColumn = {
  name: 'raised',
  header: 'Raised',
  width: 7.5,
  isOptional: true,
  sorts: ['raised_on', '-raised_on'],
  cell: ({ raised_on }: { raised_on: string }) => formatDay(raised_on),
} as const;

export const updatedColumn = {
  name: 'updated',
  header: 'Updated',
  width: 7.5,
  isOptional: true,
  sorts: ['-updated_at', 'updated_at'],
  cell: ({ updated_at }: { updated_at: string }) => formatDayOf(updated_at),
} as const;
