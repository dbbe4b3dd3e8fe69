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

const columnsOf = (period: Period): ReportColumn<Count>[] => [
  { header: 'Active risks', cell: ({ name }) => name },
  { header: formatDay(period.since), cell: ({ before }) => formatNumber(before) },
  { header: dayName(period), cell: ({ after }) => formatNumber(after) },
  { header: 'Change', cell: ({ before, after }) => (after === before ? '–' : formatChange(after - before)) },
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

/** The register on two days side by side: its counts and its matrices. */
export function Comparison({ period, register }: { period: Period; register: Registers }) {
  const { data: model } = useRiskModel();
  return (
    <Card id="comparison" title="Risk register">
      <ReportTable
        isCounts
        columns={columnsOf(period)}
        rows={countsOf(register, model)}
        rowKey={({ name }) => name}
      />
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
