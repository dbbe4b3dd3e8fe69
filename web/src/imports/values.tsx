import type { ImportSummary } from '../api/openapi.ts';
import { humanize } from '../format.ts';
import { useRiskModel } from '../risks/model.ts';
import { Mapping } from './mapping.tsx';
import type { Settings } from './settings.ts';

type ValueMap = Settings['map_values'];

type Props = { summary: ImportSummary; map: ValueMap; onChange: (map: ValueMap) => void };

/** The value that each text of the file is read as, which the user can change. */
export function Values({ summary, map, onChange }: Props) {
  const { columns, choices } = summary;
  const { data: model } = useRiskModel();
  /** The steps of a scale of the risk model, if the field has ratings. */
  const scaleOf = (field: string) => {
    const [scale] = /(?:probability|impact)$/.exec(field) ?? [];
    return scale ? model?.[scale as 'probability' | 'impact'] : undefined;
  };
  const texts = textsOf(summary);
  if (texts.length === 0) return null;
  const unknown = texts.filter(({ value }) => value === undefined).length;
  return (
    <Mapping
      title="Values"
      counts={[
        texts.length > unknown && `${texts.length - unknown} understood`,
        unknown > 0 && `${unknown} not recognized`,
      ]}
      isForcedOpen={unknown > 0}
    >
      <ul>
        {texts.map(({ column, text, value }) => {
          const field = columns[column] ?? column;
          const current = map[field]?.[text] ?? value;
          const scale = scaleOf(field);
          return (
            <li key={`${column}:${text}`}>
              <label>
                <span>
                  <span className="quiet">
                    <bdi>{column}</bdi>:
                  </span>{' '}
                  <bdi>{text}</bdi>
                  {scale && ' means'}
                </span>
                <select
                  value={current ?? '?'}
                  onChange={({ target }) =>
                    onChange({ ...map, [field]: { ...map[field], [text]: target.value } })
                  }
                >
                  {current === undefined && (
                    <option value="?" disabled>
                      Not recognized
                    </option>
                  )}
                  <option value="">No value</option>
                  {(choices[column] ?? []).map((choice) => (
                    <option key={choice} value={choice}>
                      {scale ? `${choice} ${scale[Number(choice) - 1]?.word ?? ''}` : humanize(choice)}
                    </option>
                  ))}
                </select>
              </label>
            </li>
          );
        })}
      </ul>
    </Mapping>
  );
}

type Text = { column: string; text: string; value: string | undefined };

/** The texts of columns with a choice of values; first those without a value. */
function textsOf({ values, unknown_values, choices }: ImportSummary): Text[] {
  const unknown = Object.entries(unknown_values).flatMap(([column, texts]) =>
    texts.map((text) => ({ column, text, value: undefined })),
  );
  const known = Object.entries(values).flatMap(([column, texts]) =>
    Object.entries(texts).map(([text, value]) => ({ column, text, value: value === 'null' ? '' : value })),
  );
  return [...unknown, ...known].filter(({ column }) => Object.hasOwn(choices, column));
}
