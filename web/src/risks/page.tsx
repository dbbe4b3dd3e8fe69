import { useState } from 'react';
import type { RankedRisk, RiskHeatmap } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Movement, Named, Person, Score, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { Applied, Choice, type Filters, Search, Toggle, useFilters } from '../components/filters.tsx';
import { Loaded, Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { type Column, Table } from '../components/table.tsx';
import { day, number, plural, words } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { useProjects } from '../projects/queries.ts';
import { HeatMap } from './heat-map.tsx';
import { riskFilterNames, useHeatMap, useRisks } from './queries.ts';
import { NewRisk } from './risk-form.tsx';

/** The register across projects, ranked, beside its heat map. */
export function RisksPage() {
  const { filters, set, clear } = useFilters(riskFilterNames);
  const [isNew, setNew] = useState(false);
  const may = useMay();
  const risks = useRisks(filters);
  return (
    <>
      <Title title="Risks">
        <PrintButton more={risks.hasNextPage ? risks.fetchNextPage : undefined} />
        <ExportButton path="/v1/risks" filters={filters} name="risks" />
        {may('projects.manage') && (
          <Button primary icon="plus" onPress={() => setNew(true)}>
            New risk
          </Button>
        )}
      </Title>
      <RiskFilters filters={filters} set={set} clear={clear} />
      <div className="columns">
        <div>
          {risks.isError && <ProblemNotice error={risks.error} retry={() => risks.refetch()} />}
          {risks.isPending && <Loading />}
          {risks.first && (
            <Register
              risks={risks}
              filters={filters}
              clear={clear}
              unassessed={risks.first.meta.unassessed}
            />
          )}
        </div>
        <HeatMapCard filters={filters} />
      </div>
      {isNew && (
        <NewRisk
          project={filters.project?.includes(',') ? undefined : filters.project}
          onClose={() => setNew(false)}
        />
      )}
    </>
  );
}

type Setter = (changes: Record<string, string | null>) => void;

function RiskFilters({ filters, set, clear }: { filters: Filters; set: Setter; clear: () => void }) {
  const projects = useProjects();
  const options = (projects.data ?? []).map(({ key, name }) => [key, <bdi key={key}>{name}</bdi>] as const);
  const choice = (name: string) => ({
    value: filters[name],
    onChange: (value: string | null) => set({ [name]: value }),
  });
  return (
    <search className="filters">
      <Search label="Find by title or key" value={filters.q ?? ''} onChange={(q) => set({ q: q || null })} />
      <Choice label="Project" options={options} {...choice('project')} />
      <Choice label="Status" options={statuses} {...choice('status')} />
      <Choice label="Level" options={levels} {...choice('level')} />
      <Choice label="Wanting" options={checks} {...choice('check')} />
      <Toggle label="Above appetite" {...choice('above_appetite')} />
      {applied.map(
        ([name, describe]) =>
          filters[name] && (
            <Applied key={name} label={describe(filters[name])} onRemove={() => set({ [name]: null })} />
          ),
      )}
      {Object.keys(filters).length > 1 && (
        <Button plain small onPress={clear}>
          Clear all
        </Button>
      )}
    </search>
  );
}

const named = (values: readonly string[]) => values.map((value) => [value, words(value)] as const);
const statuses = named(['open', 'mitigating', 'monitoring', 'accepted', 'materialized', 'closed', 'all']);
const levels = named(['critical', 'high', 'medium', 'low']);
const checks = named([
  'unassessed',
  'unowned',
  'owner_inactive',
  'review_overdue',
  'due_overdue',
  'no_response_plan',
  'residual_above_current',
  'acceptance_expiring',
  'above_appetite',
  'stale_90d',
]);

/** Filters that are set by a click elsewhere. */
const applied: readonly [name: string, describe: (value: string) => string][] = [
  ['probability', (value) => `Probability ${value}`],
  ['impact', (value) => `Impact ${value}`],
  ['as_of', (value) => `As of ${/^\d{4}-\d\d-\d\d$/.test(value) ? day(value) : value}`],
  ['kind', words],
  ['category', (value) => `Category ${value}`],
  ['owner_user_id', () => 'One owner'],
  ['owner_group_id', () => 'One owning group'],
  ['unowned', (value) => (value === 'true' ? 'Unowned' : 'Owned')],
  ['assessed', (value) => (value === 'true' ? 'Assessed' : 'Not assessed')],
  ['review_overdue', (value) => (value === 'true' ? 'Review overdue' : 'Review not overdue')],
  ['sort', (value) => `Sorted by ${value}`],
];

type RegisterProps = {
  risks: ReturnType<typeof useRisks>;
  filters: Filters;
  clear: () => void;
  unassessed: number;
};

function Register({
  risks: { rows, total, hasNextPage, isFetchingNextPage, fetchNextPage },
  filters,
  clear,
  unassessed,
}: RegisterProps) {
  const isFiltered = Object.keys(filters).length > 0;
  if (rows.length === 0) {
    return isFiltered ? (
      <Empty title="No risk matches" action={<Button onPress={clear}>Clear the filters</Button>}>
        Nothing in the register has all that you asked for.
      </Empty>
    ) : (
      <Empty title="The register is empty">
        Write down what could go wrong, with “New risk”. Give it a probability and an impact, and it takes its
        rank.
      </Empty>
    );
  }
  return (
    <>
      <p className="summary-line" role="status">
        {total !== null && plural(total, 'risk')}
        {unassessed > 0 && `, ${number(unassessed)} of them not assessed`}
      </p>
      <Table
        label="Risks"
        columns={columns}
        rows={rows}
        rowKey={(risk) => risk.id}
        total={total}
        more={hasNextPage && !isFetchingNextPage ? fetchNextPage : undefined}
      />
    </>
  );
}

const columns: readonly Column<RankedRisk>[] = [
  { name: 'rank', header: 'Rank', width: 3.2, end: true, cell: ({ rank }) => rank && number(rank) },
  {
    name: 'movement',
    header: '30 days',
    width: 4.2,
    from: 'tablet',
    cell: ({ movement }) => movement && <Movement {...movement} />,
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
    cell: (risk) => <Named {...risk} href={`/risks/${risk.key}`} />,
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
    width: 10,
    from: 'tablet',
    cell: ({ owner_name }) =>
      owner_name ? <Person name={owner_name} /> : <span className="quiet">Nobody</span>,
  },
  { name: 'due', header: 'Due', width: 7.5, from: 'wide', cell: ({ due_on }) => due_on && day(due_on) },
];

/** Beside the list where there is room for it; else folded above it. */
function HeatMapCard({ filters }: { filters: Filters }) {
  const isWide = matchMedia('(min-width: 75rem)').matches;
  const query = useHeatMap(filters);
  const isChosen = ({ probability, impact }: RiskHeatmap[number]) =>
    filters.probability === String(probability) && filters.impact === String(impact);
  const hrefOf = (cell: RiskHeatmap[number]) => {
    const { probability: _, impact: __, ...rest } = filters;
    const next = isChosen(cell)
      ? rest
      : { ...rest, probability: String(cell.probability), impact: String(cell.impact) };
    return `/risks?${new URLSearchParams(next)}`;
  };
  return (
    <details className="card heat-map-card no-print" open={isWide}>
      <summary>Heat map</summary>
      <Loaded query={query}>
        {({ data }) => <HeatMap cells={data} hrefOf={hrefOf} isChosen={isChosen} />}
      </Loaded>
    </details>
  );
}
