import { useState } from 'react';
import type { RankedRisk, RiskHeatmap } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useBulk } from '../bulk/use-bulk.tsx';
import { Movement, PersonLabel, Score, Status, TitleCell } from '../components/badges.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import {
  FilterBar,
  FilterMenu,
  type Filters,
  FilterToggle,
  NoMatches,
  useFilters,
} from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import type { Column } from '../components/table.tsx';
import { enumOptions, formatDay, formatDayOrText, formatNumber, humanize, pluralize } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { GroupFilter, PersonFilter } from '../personnel/person-filter.tsx';
import { ProjectFilter } from '../projects/project-filter.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { HeatMap } from './heat-map.tsx';
import { checks, levels, riskStatuses } from './model.ts';
import { movementSince, riskFilterNames, useHeatMap, useRisks } from './queries.ts';
import { NewRisk } from './risk-form.tsx';

/** The risks of all projects by rank, with a heat map. */
export function RisksPage() {
  const filterState = useFilters(riskFilterNames);
  const { filters, bind, isFiltered, clear } = filterState;
  const hasScope = useHasScope();
  const risks = useRisks(filters);
  const bulk = useBulk('risks', risks.rows, filters);
  const { firstPage, total, hasNextPage, fetchNextPage, isPlaceholderData } = risks;
  const unassessed = isPlaceholderData ? 0 : (firstPage?.meta.unassessed ?? 0);
  return (
    <>
      <Title title="Risks">
        <ViewsMenu list="risks" filters={filters} />
        <PrintButton loadMore={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton path="/v1/risks" filters={filters} name="risks" />
        {hasScope('projects.manage') && (
          <CreateButton
            dialog={(onClose) => (
              <NewRisk
                project={filters.project?.includes(',') ? undefined : filters.project}
                onClose={onClose}
              />
            )}
          >
            Create risk
          </CreateButton>
        )}
      </Title>
      <FilterBar state={filterState} search="Search by title or key" applied={appliedFilters}>
        <ProjectFilter {...bind('project')} />
        <FilterMenu label="Status" options={statuses} {...bind('status')} />
        <FilterMenu label="Level" options={enumOptions(levels)} {...bind('level')} />
        <FilterMenu label="Needs attention" options={enumOptions(checks)} {...bind('check')} />
        <PersonFilter label="Owner" {...bind('owner_user_id')} />
        <GroupFilter label="Owning group" {...bind('owner_group_id')} />
        <FilterToggle label="Above appetite" {...bind('above_appetite')} />
      </FilterBar>
      <div className="columns">
        <div>
          {bulk.bar}
          <List
            label="Risks"
            list={risks}
            columns={columnsOf(isFiltered)}
            rowKey={({ id }) => id}
            sort={bind('sort')}
            selection={bulk.selection}
            summary={
              total !== null && (
                <>
                  {pluralize(total, 'risk')}
                  {unassessed > 0 && `, ${formatNumber(unassessed)} not assessed`}
                  {isFiltered && !filters.sort && '. Ranks are within these filters.'}
                </>
              )
            }
            empty={
              isFiltered ? (
                <NoMatches title="No risks match these filters" clear={clear} />
              ) : (
                <Empty title="No risks yet">
                  Create a risk for each thing that could go wrong. Its probability and impact determine its
                  rank.
                </Empty>
              )
            }
          />
        </div>
        <HeatMapCard filters={filters} />
      </div>
    </>
  );
}

const statuses = enumOptions([...riskStatuses, 'all']);

/** Labels of the filters that only links set. */
const appliedFilters = {
  probability: (value: string) => `Probability ${value}`,
  impact: (value: string) => `Impact ${value}`,
  as_of: (value: string) => `As of ${formatDayOrText(value)}`,
  kind: humanize,
  category: (value: string) => `Category: ${value}`,
  unowned: (value: string) => (value === 'true' ? 'No owner' : 'Has an owner'),
  assessed: (value: string) => (value === 'true' ? 'Assessed' : 'Not assessed'),
  review_overdue: (value: string) => (value === 'true' ? 'Review overdue' : 'Review not overdue'),
};

/** Filters change the ranks, so the header says that they are not the ranks among all risks. */
const columnsOf = (isFiltered: boolean): readonly Column<RankedRisk>[] => [
  {
    name: 'rank',
    header: isFiltered ? 'Rank here' : 'Rank',
    width: isFiltered ? 5 : 3.2,
    end: true,
    sorts: [''],
    cell: ({ rank }) => rank && formatNumber(rank),
  },
  {
    name: 'movement',
    header: '30 days',
    width: 5.2,
    from: 'tablet',
    cell: (risk) => <Movement risk={risk} since={movementSince()} />,
  },
  {
    name: 'score',
    header: 'Score',
    width: 3.6,
    cell: (risk) => <Score score={risk.score} level={risk.level} />,
  },
  {
    name: 'title',
    header: 'Risk',
    cell: (risk) => <TitleCell {...risk} href={`/risks/${risk.key}`} />,
  },
  {
    name: 'status',
    header: 'Status',
    width: 7,
    from: 'tablet',
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'owner',
    header: 'Owner',
    width: 8,
    from: 'tablet',
    cell: ({ owner_name }) =>
      owner_name ? <PersonLabel name={owner_name} /> : <span className="quiet">No owner</span>,
  },
  {
    name: 'due',
    header: 'Due',
    width: 7.5,
    from: 'desktop',
    sorts: ['due_on'],
    cell: ({ due_on }) => due_on && formatDay(due_on),
  },
];

const collapsedKey = 'muster-heat-map-collapsed';

/** Next to the list on a wide screen, unless the user has collapsed it; collapsed above it on a narrow one. */
function HeatMapCard({ filters }: { filters: Filters }) {
  const isWide = matchMedia('(min-width: 75rem)').matches;
  const [isOpen, setOpen] = useState(isWide && localStorage.getItem(collapsedKey) === null);
  const query = useHeatMap(filters);
  const isSelected = ({ probability, impact }: RiskHeatmap[number]) =>
    filters.probability === String(probability) && filters.impact === String(impact);
  const hrefOf = (cell: RiskHeatmap[number]) => {
    const { probability: _, impact: __, ...rest } = filters;
    const next = isSelected(cell)
      ? rest
      : { ...rest, probability: String(cell.probability), impact: String(cell.impact) };
    return `/risks?${new URLSearchParams(next)}`;
  };
  return (
    <details
      className="card heat-map-card no-print"
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        if (isWide && open) localStorage.removeItem(collapsedKey);
        else if (isWide) localStorage.setItem(collapsedKey, 'true');
      }}
    >
      <summary>Heat map</summary>
      <div className={query.isPlaceholderData ? 'updating' : undefined} aria-busy={query.isPlaceholderData}>
        <Loaded query={query}>
          {({ data }) => <HeatMap cells={data} hrefOf={hrefOf} isSelected={isSelected} />}
        </Loaded>
      </div>
    </details>
  );
}
