import { useState } from 'react';
import { browserStorage } from '../api/storage.ts';
import { useColumns } from '../columns/use-columns.tsx';
import { useSort } from '../columns/use-sort.ts';
import { Empty } from '../components/empty.tsx';
import { invalidFilters } from '../components/error-text.ts';
import { type Filters, useFilters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatDayOrText, formatNumber } from '../format.ts';
import { ItemsPage } from '../layout/items-page.tsx';
import { ProjectsFirst } from '../projects/no-projects.tsx';
import { rateAction, riskColumns } from './columns.tsx';
import { RiskFilters } from './filters.tsx';
import { HeatMap, type HeatMapCell } from './heat-map.tsx';
import type { RiskKind } from './kinds.ts';
import {
  canHaveMovement,
  riskFilterNames,
  useCompared,
  useHeatMap,
  useRisks,
  useShownPeriod,
} from './queries.ts';
import { RiskCounts } from './risk-counts.tsx';
import { NewRisk } from './risk-form.tsx';

/** The risks of all projects by rank, with a heat map. */
export function RisksPage() {
  const state = useFilters(riskFilterNames);
  const { filters, isFiltered } = state;
  const compared = useCompared(filters);
  const period = useShownPeriod(filters);
  const heatMap = useHeatMapCard();
  // The cells of threats and of opportunities mean different things, so the heat map shows one of them.
  const kind = filters.kind === 'opportunity' ? 'opportunity' : 'threat';
  const all = riskColumns({ isFiltered, hasMovement: canHaveMovement(filters), period });
  const sort = useSort('risks', state, all);
  const choice = useColumns('risks', all);
  const hasMovement = choice.columns.some(({ name }) => name === 'movement');
  const risks = useRisks(compared, { hasMovement });
  const { firstPage, isPlaceholderData } = risks;
  const unassessed = isPlaceholderData ? 0 : (firstPage?.meta.unassessed ?? 0);
  return (
    <ItemsPage
      list="risks"
      noun={filters.status ? 'risk' : 'active risk'}
      state={state}
      filters={compared}
      sort={sort}
      rows={risks}
      choice={choice}
      action={rateAction}
      exportPath="/v1/risks"
      createLabel="Create risk"
      createDialog={(project, onClose) => <NewRisk project={project} onClose={onClose} />}
      controls={<RiskFilters state={state} />}
      summary={
        <>
          {unassessed > 0 && `, ${formatNumber(unassessed)} not assessed`}
          {isFiltered && !filters.sort && '. Ranks are within these filters.'}
        </>
      }
      empty={
        filters.as_of ? (
          <Empty title={`No risks on ${formatDayOrText(filters.as_of)}`}>
            The register had no active risks at the end of that day.
          </Empty>
        ) : (
          <ProjectsFirst>
            <Empty title="No risks yet">
              Create a risk for each thing that could go wrong, or drop your CSV or Excel file here.
              Probability and impact determine the rank.
            </Empty>
          </ProjectsFirst>
        )
      }
      above={<HeatMapCard filters={filters} columns={choice.value} kind={kind} {...heatMap} />}
    />
  );
}

const openKey = 'muster-heat-map-open';

/** Collapsed, so that the list has the space, until the user opens it in this browser. */
function useHeatMapCard() {
  const [isOpen, setOpen] = useState(browserStorage.getItem(openKey) !== null);
  const onToggle = (open: boolean) => {
    setOpen(open);
    if (open) browserStorage.setItem(openKey, 'true');
    else browserStorage.removeItem(openKey);
  };
  return { isOpen, onToggle };
}

type MapProps = { filters: Filters; columns: string | undefined; kind: RiskKind };
type HeatMapProps = MapProps & ReturnType<typeof useHeatMapCard>;

function HeatMapCard({ isOpen, onToggle, ...props }: HeatMapProps) {
  const { kind } = props;
  return (
    <details
      className="card heat-map-card no-print"
      open={isOpen}
      onToggle={({ currentTarget }) => onToggle(currentTarget.open)}
    >
      <summary>Heat map of {kind === 'threat' ? 'threats' : 'opportunities'}</summary>
      {isOpen && (
        <div className="heat-map-content">
          <OpenHeatMap {...props} />
          <RiskCounts filters={props.filters} />
        </div>
      )}
    </details>
  );
}

function OpenHeatMap({ filters, columns, kind }: MapProps) {
  const query = useHeatMap({ ...filters, kind });
  const isSelected = ({ probability, impact }: HeatMapCell) =>
    filters.probability === String(probability) && filters.impact === String(impact) && filters.kind === kind;
  const hrefOf = (cell: HeatMapCell) => {
    const { probability: _, impact: __, ...rest } = filters;
    const next = isSelected(cell)
      ? rest
      : { ...rest, kind, probability: String(cell.probability), impact: String(cell.impact) };
    return `/risks?${new URLSearchParams(columns ? { ...next, columns } : next)}`;
  };
  return (
    <div className={query.isPlaceholderData ? 'updating' : undefined} aria-busy={query.isPlaceholderData}>
      {/* The list below it explains filters that are not valid. */}
      {invalidFilters(query.error).length === 0 && (
        <Loaded query={query}>
          {({ data }) => <HeatMap cells={data} kind={kind} hrefOf={hrefOf} isSelected={isSelected} />}
        </Loaded>
      )}
    </div>
  );
}
