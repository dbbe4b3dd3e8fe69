import { riskChecksValues, riskLevelValues, riskStatusValues } from '../api/openapi.ts';
import { AsOfInput, AsOfNotice } from '../components/as-of.tsx';
import {
  changedFilter,
  dayFilters,
  FilterBar,
  FilterMenu,
  type FilterState,
  FilterToggle,
} from '../components/filters.tsx';
import { capitalize, enumOptions, formatDayOrText } from '../format.ts';
import { PeriodOptions } from '../period/period-menu.tsx';
import { OwningGroupFilter, PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { levelLabel, useRiskModel } from './model.ts';
import { useShownPeriod } from './queries.ts';

type Props = {
  state: FilterState;
  /** On the page of a project there is no choice of projects. */
  isInProject?: boolean;
};

export function RiskFilters({ state, isInProject = false }: Props) {
  const { bind, filters, set } = state;
  const { header } = useShownPeriod(filters);
  const { data: model } = useRiskModel();
  const levels = model?.levels.map(({ level }) => level) ?? riskLevelValues.slice(1);
  return (
    <>
      <FilterBar state={state} search="Search by title or key" hasDescriptions applied={appliedFilters}>
        {!isInProject && <ProjectFilter {...bind('project')} />}
        <FilterMenu label="Status" options={statuses} {...bind('status')} />
        <FilterMenu label="Kind" options={kinds} {...bind('kind')} />
        <FilterMenu
          label="Level"
          options={levels.toReversed().map((level) => [level, levelLabel(model, level)])}
          {...bind('level')}
        />
        <FilterMenu label="Needs attention" options={enumOptions(riskChecksValues)} {...bind('check')} />
        <PersonFilter label="Owner" {...bind('owner_user_id')} />
        <OwningGroupFilter state={state} />
        <FilterToggle label="Above appetite" {...bind('above_appetite')} />
        <FilterMenu label={header} options={changes} {...bind('change')}>
          <PeriodOptions onChoose={() => set({ since: null })} />
        </FilterMenu>
        <AsOfInput {...bind('as_of')} />
      </FilterBar>
      {filters.as_of && (
        <AsOfNotice day={filters.as_of} onToday={() => set({ as_of: null })}>
          Opening a risk shows its current state.
        </AsOfNotice>
      )}
    </>
  );
}

const statuses = enumOptions([...riskStatusValues, 'all']);
const kinds = [
  ['threat', 'Threats'],
  ['opportunity', 'Opportunities'],
] as const;
const changes = [
  ['up', 'Moved up'],
  ['down', 'Moved down'],
  ['new', 'New'],
] as const;

/** Labels of the filters that only links set. */
const appliedFilters = {
  transitive: () => 'With subgroups and members',
  probability: (value: string) => `Probability ${value}`,
  impact: (value: string) => `Impact ${value}`,
  category: (value: string) => `Category: ${capitalize(value)}`,
  archived: (value: string) => (value === 'any' ? 'With archived projects' : 'Archived projects'),
  unowned: (value: string) => (value === 'true' ? 'No owner' : 'Has an owner'),
  assessed: (value: string) => (value === 'true' ? 'Assessed' : 'Not assessed'),
  review_overdue: (value: string) => (value === 'true' ? 'Review overdue' : 'Review not overdue'),
  ...dayFilters('due', 'Due'),
  ...dayFilters('review', 'Review'),
  ...changedFilter,
  since: (day: string) => `Compared with ${formatDayOrText(day)}`,
};
