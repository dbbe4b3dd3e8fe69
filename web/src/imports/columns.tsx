import { Button } from '../components/button.tsx';
import { formatNumber, pluralize } from '../format.ts';
import { Mapping } from './mapping.tsx';
import type { ColumnMap } from './run-import.ts';
import type { Settings } from './settings.ts';
import { fieldLabel, type ImportTarget } from './targets.ts';

type Map = Settings['map'];

type Props = {
  columns: ColumnMap;
  unmapped: readonly string[];
  target: ImportTarget;
  map: Map;
  /** Whether the file can't be imported with the current mapping. */
  hasError: boolean;
  onChange: (map: Map) => void;
};

/** The field each column of the file is mapped to, which the user can change. */
export function Columns({ columns, unmapped, target, map, hasError, onChange }: Props) {
  const names = Object.keys(columns).filter((name) => name !== '');
  if (names.length === 0) return null;
  const unknown = names.filter((name) => columns[name] === null);
  const skipped = names.filter((name) => columns[name] === '');
  const left = unknown.length + skipped.length;
  const setAll = (some: readonly string[], fieldOf: (name: string) => string) =>
    onChange({ ...map, ...Object.fromEntries(some.map((name) => [name, fieldOf(name)])) });
  return (
    <Mapping
      title={`${pluralize(names.length - left, 'column')} mapped`}
      counts={[left > 0 && `${formatNumber(left)} will be skipped`]}
      isForcedOpen={hasError || unknown.length > 0}
    >
      {unmapped.length > 1 && (
        <p className="button-row">
          <span className="quiet">All columns without a field:</span>
          <Button small onPress={() => setAll(unmapped, () => '')}>
            Skip
          </Button>
          {target.hasAttributes && (
            <Button small onPress={() => setAll(unmapped, attributeOf)}>
              Import as custom fields
            </Button>
          )}
        </p>
      )}
      <ul>
        {names.map((name) => (
          <ColumnSelect
            key={name}
            name={name}
            field={map[name] ?? columns[name] ?? null}
            target={target}
            onChange={(field) => setAll([name], () => field)}
          />
        ))}
      </ul>
    </Mapping>
  );
}

/** Names the attribute after the column. `,` and `=` separate the pairs of `map`, so a name can't contain them. */
const attributeOf = (name: string) => `attributes.${name.replace(/^attributes\./, '').replace(/[,=]/g, ' ')}`;

type SelectProps = {
  name: string;
  field: string | null;
  target: ImportTarget;
  onChange: (field: string) => void;
};

/** The value `?` means that the column is not mapped yet. */
function ColumnSelect({ name, field, target, onChange }: SelectProps) {
  const attribute = attributeOf(name);
  const isUnlisted = field !== null && field !== '' && field !== attribute && !(field in target.fields);
  return (
    <li>
      <label>
        <bdi>{name}</bdi>
        <select value={field ?? '?'} onChange={(event) => onChange(event.target.value)}>
          {field === null && (
            <option value="?" disabled>
              Choose field
            </option>
          )}
          <option value="">Skip</option>
          {target.hasAttributes && <option value={attribute}>Import as custom field</option>}
          {isUnlisted && <option value={field}>{fieldLabel(target, field)}</option>}
          {Object.entries(target.fields).map(([option, label]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </li>
  );
}
