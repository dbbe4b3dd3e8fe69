import { formatDay, formatDayOf } from '../format.ts';
import { NoOwner } from '../personnel/person-link.tsx';
import { PersonLabel, Status } from './badges.tsx';
import type { Column } from './table.tsx';

/** A text that users have entered. */
export const textColumn = <Name extends string>(
  name: Name,
  header: string,
  more: Partial<Omit<Column<never>, 'onPhone'>>,
) => ({
  ...more,
  name,
  header,
  cell: (row: Record<Name, string | null>) => <bdi>{row[name]}</bdi>,
});

export const dayColumn = <Field extends string>(
  name: string,
  header: string,
  field: Field,
  more: Partial<Omit<Column<never>, 'onPhone'>>,
) => ({
  ...more,
  name,
  header,
  width: 7.5,
  cell: ({ [field]: day }: Record<Field, string | null>) => day && formatDay(day),
});

/** The columns that several lists have. */

export const statusColumn = {
  name: 'status',
  header: 'Status',
  width: 6.6,
  sorts: ['status', '-status'],
  from: 'tablet',
  edits: 'status',
  onPhone: true,
  cell: ({ status }: { status: string }) => <Status status={status} />,
} as const;

export const ownerColumn = {
  name: 'owner',
  header: 'Owner',
  width: 9.5,
  sorts: ['owner_name', '-owner_name'],
  from: 'tablet',
  edits: 'owner_user_id',
  onPhone: true,
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

export const raisedColumn = dayColumn('raised', 'Raised', 'raised_on', {
  isOptional: true,
  sorts: ['raised_on', '-raised_on'],
});

export const updatedColumn = {
  name: 'updated',
  header: 'Updated',
  width: 7.5,
  isOptional: true,
  sorts: ['-updated_at', 'updated_at'],
  cell: ({ updated_at }: { updated_at: string }) => formatDayOf(updated_at),
} as const;
