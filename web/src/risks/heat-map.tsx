import { Link } from 'wouter';
import type { RiskHeatmap } from '../api/openapi.ts';
import { number, plural, words } from '../format.ts';
import { useRiskModel } from './model.ts';
import './heat-map.css';

type Cell = RiskHeatmap[number];

const scale = [1, 2, 3, 4, 5];

type Props = { cells: RiskHeatmap; hrefOf: (cell: Cell) => string; isChosen?: (cell: Cell) => boolean };

/** Five by five, the worst in the upper right; each cell leads to the risks in it. */
export function HeatMap({ cells, hrefOf, isChosen = () => false }: Props) {
  const { data: model } = useRiskModel();
  const word = (axis: 'probability' | 'impact', value: number) =>
    words(model?.[axis].find((step) => step.value === value)?.word ?? '');
  const at = (probability: number, impact: number) =>
    cells.find((cell) => cell.probability === probability && cell.impact === impact);
  return (
    <div className="heat-map-box">
      <table className="heat-map">
        <caption>Probability upwards, impact to the right.</caption>
        <tbody>
          {scale.toReversed().map((probability) => (
            <tr key={probability}>
              <th scope="row" title={word('probability', probability)}>
                <span className="visually-hidden">Probability </span>
                {probability} <span className="word">{word('probability', probability)}</span>
              </th>
              {scale.map((impact) => {
                const cell = at(probability, impact);
                return (
                  <td key={impact}>
                    {cell && <CellLink cell={cell} href={hrefOf(cell)} isChosen={isChosen(cell)} />}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td />
            {scale.map((impact) => (
              <th key={impact} scope="col" title={word('impact', impact)}>
                <span className="visually-hidden">Impact </span>
                {impact} <span className="word">{word('impact', impact)}</span>
              </th>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

const CellLink = ({ cell, href, isChosen }: { cell: Cell; href: string; isChosen: boolean }) => (
  <Link
    href={href}
    className={`heat-cell level-${cell.level} ${cell.count === 0 ? 'none' : ''}`}
    aria-current={isChosen ? 'true' : undefined}
    aria-label={`Probability ${cell.probability}, impact ${cell.impact}: ${plural(cell.count, 'risk')}`}
  >
    {cell.count === 0 ? '·' : number(cell.count)}
  </Link>
);
