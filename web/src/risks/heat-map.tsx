import { Link } from 'wouter';
import type { RiskHeatmap } from '../api/openapi.ts';
import { formatNumber, humanize, pluralize } from '../format.ts';
import { kindClass, type RiskKind, wordsOf } from './kinds.ts';
import { axesOf, cellAt, levelColors, useRiskModel } from './model.ts';
import './heat-map.css';

export type HeatMapCell = Omit<RiskHeatmap[number], 'top'>;

type Props = {
  cells: readonly HeatMapCell[];
  /** What it counts. */
  kind?: RiskKind;
  hrefOf: (cell: HeatMapCell) => string;
  isSelected?: (cell: HeatMapCell) => boolean;
};

/** A matrix with the worst cell at the top right. Each cell links to its risks. */
export function HeatMap({ cells, kind = 'threat', hrefOf, isSelected = () => false }: Props) {
  const words = wordsOf(kind);
  const { data: current } = useRiskModel();
  const { rows, columns } = axesOf(cells);
  // A past day may have had another model, whose words are not known here.
  const isCurrent = current?.probability.length === rows.length && current.impact.length === columns.length;
  const model = isCurrent ? current : undefined;
  const word = (axis: 'probability' | 'impact', value: number) =>
    humanize(model?.[axis].find((step) => step.value === value)?.word ?? '');
  const max = Math.max(1, ...cells.map(({ count }) => count));
  return (
    <div className="heat-map-box">
      <table className={`heat-map${kindClass(kind)}`}>
        <caption>
          <span className="visually-hidden">
            {humanize(words.plural)} by {words.probability.toLowerCase()} and {words.impact.toLowerCase()}.{' '}
          </span>
          <span aria-hidden="true">{words.probability}</span>
        </caption>
        <tbody>
          {rows.map((probability) => (
            <tr key={probability}>
              <th scope="row" title={word('probability', probability)}>
                <span className="visually-hidden">{words.probability} </span>
                {probability} <span className="word">{word('probability', probability)}</span>
              </th>
              {columns.map((impact) => {
                const cell = cellAt(cells, probability, impact);
                return (
                  <td key={impact}>
                    {cell && (
                      <CellLink
                        cell={cell}
                        kind={kind}
                        share={cell.count / max}
                        href={hrefOf(cell)}
                        isSelected={isSelected(cell)}
                        colors={levelColors(current, cell.level, {
                          kind,
                          cellColor: model && cellAt(model.cells, probability, impact)?.color,
                        })}
                      />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td />
            {columns.map((impact) => (
              <th key={impact} scope="col" title={word('impact', impact)}>
                <span className="visually-hidden">{words.impact} </span>
                {impact} <span className="word">{word('impact', impact)}</span>
              </th>
            ))}
          </tr>
          <tr>
            <td />
            <td className="axis-title" colSpan={columns.length}>
              {words.impact}
            </td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

type CellProps = {
  cell: HeatMapCell;
  kind: RiskKind;
  share: number;
  href: string;
  isSelected: boolean;
  colors: ReturnType<typeof levelColors>;
};

/** The color is the level; the more risks a cell has, the stronger it is. */
const CellLink = ({ cell, kind, share, href, isSelected, colors }: CellProps) => (
  <Link
    href={href}
    style={{ ...colors.style, '--share': share } as React.CSSProperties}
    className={`heat-cell ${colors.className} ${cell.count === 0 ? 'none' : cell.count > 999 ? 'long' : ''}`}
    aria-current={isSelected ? 'true' : undefined}
    aria-label={labelOf(cell, kind)}
  >
    {cell.count === 0 ? '·' : formatNumber(cell.count)}
  </Link>
);

const labelOf = ({ probability, impact, count }: HeatMapCell, kind: RiskKind) => {
  const words = wordsOf(kind);
  const counted = pluralize(count, words.noun, words.plural);
  return `${words.probability} ${probability}, ${words.impact.toLowerCase()} ${impact}: ${counted}`;
};
