import type { ReactNode } from 'react';
import { taskKindValues, taskStatusValues } from '../api/openapi.ts';
import {
  changedFilter,
  dayFilters,
  FilterBar,
  FilterMenu,
  type FilterState,
  FilterToggle,
} from '../components/filters.tsx';
import { enumOptions } from '../format.ts';
import { PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';

type Props = {
  state: FilterState;
  action?: ReactNode;
  /** On the page of a project there is no choice of projects. */
  isInProject?: boolean;
};

export function TaskFilters({ state, action, isInProject = false }: Props) {
  const { bind } = state;
  return (
    <FilterBar
      state={state}
      search="Search by title or key"
      hasDescriptions
      applied={appliedFilters}
      action={action}
    >
      {!isInProject && <ProjectFilter {...bind('project')} />}
      <FilterMenu label="Status" options={enumOptions([...taskStatusValues, 'all'])} {...bind('status')} />
      <FilterMenu label="Kind" options={enumOptions(taskKindValues)} {...bind('kind')} />
      <PersonFilter label="Assignee" {...bind('assignee_user_id')} />
      <FilterToggle label="Overdue" {...bind('overdue')} />
      <FilterToggle label="Unassigned" {...bind('unassigned')} />
    </FilterBar>
  );
}

/** Labels of the filters that only links set. */
const appliedFilters = { ...dayFilters('due', 'Due'), ...changedFilter };
