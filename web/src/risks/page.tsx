import type { RankedRisk, RiskHeatmap } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Movement, Named, Person, Score, Status } from '../components/badges.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { ExportButton, PrintButton } from '../components/export.tsx';
import { Choice, FilterBar, type Filters, NoMatch, Toggle, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { Loaded } from '../components/loading.tsx';
import type { Column } from '../components/table.tsx';
import { day, dayOrText, number, plural, withWords, words } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { ProjectChoice } from '../projects/project-choice.tsx';
import { HeatMap } from './heat-map.tsx';
import { checks, levels, riskMoves } from './model.ts';
import { riskFilterNames, useHeatMap, useRisks } from './queries.ts';
import { NewRisk } from './risk-form.tsx';

/** The register across projects, ranked, beside its heat map. */
export function RisksPage() {
  const bar = useFilters(riskFilterNames);
  const { filters, choice, isFiltered, clear } = bar;
  const may = useMay();
  const risks = useRisks(filters);
  const { first, total, hasNextPage, fetchNextPage } = risks;
  const unassessed = first?.meta.unassessed ?? 0;
  return (
    <>
      <Title title="Risks">
        <PrintButton more={hasNextPage ? fetchNextPage : undefined} />
        <ExportButton path="/v1/risks" filters={filters} name="risks" />
        {may('projects.manage') && (
          <DialogButton
            primary
            icon="plus"
            dialog={(onClose) => (
              <NewRisk
                project={filters.project?.includes(',') ? undefined : filters.project}
                onClose={onClose}
              />
            )}
          >
            New risk
          </DialogButton>
        )}
      </Title>
      <FilterBar bar={bar} search="Find by title or key" applied={applied}>
        <ProjectChoice {...choice('project')} />
        <Choice label="Status" options={statuses} {...choice('status')} />
        <Choice label="Level" options={withWords(levels)} {...choice('level')} />
        <Choice label="Wanting" options={withWords(checks)} {...choice('check')} />
        <Toggle label="Above appetite" {...choice('above_appetite')} />
      </FilterBar>
      <div className="columns">
        <div>
          <List
            label="Risks"
            list={risks}
            columns={columns}
            rowKey={({ id }) => id}
            summary={
              <>
                {total !== null && plural(total, 'risk')}
                {unassessed > 0 && `, ${number(unassessed)} of them not assessed`}
              </>
            }
            empty={
              isFiltered ? (
                <NoMatch title="No risk matches" clear={clear}>
                  Nothing in the register has all that you asked for.
                </NoMatch>
              ) : (
                <Empty title="The register is empty">
                  Write down what could go wrong, with “New risk”. Give it a probability and an impact, and it
                  takes its rank.
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

const statuses = withWords([...Object.keys(riskMoves), 'all']);

const applied = {
  probability: (value: string) => `Probability ${value}`,
  impact: (value: string) => `Impact ${value}`,
  as_of: (value: string) => `As of ${dayOrText(value)}`,
  kind: words,
  category: (value: string) => `Category ${value}`,
  owner_user_id: () => 'One owner',
  owner_group_id: () => 'One owning group',
  unowned: (value: string) => (value === 'true' ? 'Unowned' : 'Owned'),
  assessed: (value: string) => (value === 'true' ? 'Assessed' : 'Not assessed'),
  review_overdue: (value: string) => (value === 'true' ? 'Review overdue' : 'Review not overdue'),
  sort: (value: string) => `Sorted by ${value}`,
};

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
