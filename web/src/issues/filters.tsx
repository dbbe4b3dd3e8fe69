import { issuePriorityValues, issueSeverityValues, issueStatusValues } from '../api/openapi.ts';
import {
  changedFilter,
  dayFilters,
  FilterBar,
  FilterMenu,
  type FilterState,
  FilterToggle,
} from '../components/filters.tsx';
import { dayOf, enumOptions, formatDay, formatDayOrText } from '../format.ts';
import { OwningGroupFilter, PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';

type Props = {
  state: FilterState;
  /** On the page of a project there is no choice of projects. */
  isInProject?: boolean;
};

export function IssueFilters({ state, isInProject = false }: Props) {
  const { bind } = state;
  return (
    <FilterBar state={state} search="Search by title or key" hasDescriptions applied={appliedFilters}>
      {!isInProject && <ProjectFilter {...bind('project')} />}
      <FilterMenu label="Severity" options={enumOptions(issueSeverityValues)} {...bind('severity')} />
      <FilterMenu label="Priority" options={enumOptions(issuePriorityValues)} {...bind('priority')} />
      <FilterMenu label="Status" options={enumOptions([...issueStatusValues, 'all'])} {...bind('status')} />
      <PersonFilter label="Assignee" {...bind('assignee_user_id')} />
      <PersonFilter label="Owner" {...bind('owner_user_id')} />
      <OwningGroupFilter state={state} />
      <FilterToggle label="Overdue" {...bind('overdue')} />
      <FilterToggle label="Unassigned" {...bind('unassigned')} />
    </FilterBar>
  );
}

/** Labels of the filters that only links set. */
const appliedFilters = {
  transitive: () => 'With subgroups and members',
  ...dayFilters('due', 'Due'),
  ...changedFilter,
  min_age_days: (value: string) => `${value} days or older`,
  raised_since: (value: string) => `Raised since ${formatDayOrText(value)}`,
  // Links set the start of a day.
  resolved_since: (value: string) =>
    `Resolved since ${Number.isNaN(Date.parse(value)) ? value : formatDay(dayOf(value))}`,
};
