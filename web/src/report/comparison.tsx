import type { RankedRisk, RiskModel } from '../api/openapi.ts';
import { Score } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatChange, formatDay, formatNumber } from '../format.ts';
import { HeatMap } from '../risks/heat-map.tsx';
import { levelLabel, useRiskModel } from '../risks/model.ts';
import { dayName, listHref, type Period, type Registers, useTopRisksOfBoth } from './queries.ts';
import { ItemName, type ReportColumn, ReportTable } from './tables.tsx';

type Count = { name: string; before: number; after: number };

const columnsOf = (before: string, after: string): ReportColumn<Count>[] => [
  { header: 'Active risks', cell: ({ name }) => name },
  { header: before, cell: (count) => formatNumber(count.before) },
  { header: after, cell: (count) => formatNumber(count.after) },
  {
    header: 'Change',
    cell: (count) => (count.after === count.before ? '–' : formatChange(count.after - count.before)),
  },
];

const countsOf = ({ before, after }: Registers, model: RiskModel | undefined): Count[] => [
  // A past day may have had other levels.
  ...[...new Set([...after.by_level, ...before.by_level].map(({ level }) => level))].map((level) => ({
    name: levelLabel(model, level),
    before: countIn(before, level),
    after: countIn(after, level),
  })),
  { name: 'Not assessed', before: before.unassessed, after: after.unassessed },
  { name: 'Total', before: before.total, after: after.total },
];

type TableProps = { register: Registers; since: string; after: string };

/** The counts of the register on two days. */
export function RegisterTable({ register, since, after }: TableProps) {
  const { data: model } = useRiskModel();
  return (
    <ReportTable
      isCounts
      columns={columnsOf(formatDay(since), after)}
      rows={countsOf(register, model)}
      rowKey={({ name }) => name}
    />
  );
}

/** The register on two days side by side: its counts and its matrices. */
export function Comparison({ period, register }: { period: Period; register: Registers }) {
  return (
    <Card id="comparison" title="Risk register">
      <RegisterTable register={register} since={period.since} after={dayName(period)} />
      <div className="side-by-side">
        {[
          { day: period.since, title: formatDay(period.since), cells: register.before.cells },
          { day: period.asOf, title: dayName(period), cells: register.after.cells },
        ].map(({ day, title, cells }) => (
          <section key={title}>
            <h3>{title}</h3>
            <HeatMap
              cells={cells}
              hrefOf={({ probability, impact }) =>
                listHref('/risks', period, {
                  kind: 'threat',
                  probability: String(probability),
                  impact: String(impact),
                  ...(day && { as_of: day }),
                })
              }
            />
          </section>
        ))}
      </div>
    </Card>
  );
}

export const countIn = ({ by_level }: Registers['after'], wanted: string) =>
  by_level.find(({ level }) => level === wanted)?.count ?? 0;

/** The risks of the highest rank on two days. */
export const TopRisksOfBoth = ({ period, limit }: { period: Period; limit: number }) => (
  <Card id="top-risks" title="Top risks">
    <Loaded query={useTopRisksOfBoth(period, limit)}>
      {({ before, after }) => (
        <div className="side-by-side">
          <RankedList title={formatDay(period.since)} risks={before} />
          <RankedList title={dayName(period)} risks={after} />
        </div>
      )}
    </Loaded>
  </Card>
);

const RankedList = ({ title, risks }: { title: string; risks: readonly RankedRisk[] }) => (
  <section>
    <h3>{title}</h3>
    {risks.length === 0 && <p className="quiet">No active risks</p>}
    <ol>
      {risks.map((risk) => (
        <li key={risk.id}>
          <Score {...risk} /> <ItemName list="risks" item={risk} />
        </li>
      ))}
    </ol>
  </section>
);
