import { useState } from 'react';
import { Button } from '../components/button.tsx';
import { type Importable, nameOf } from './importables.ts';
import type { Settings, Columns as Taken } from './run.ts';

type Map = Settings['map'];

type Props = {
  columns: Taken;
  undecided: readonly string[];
  of: Importable;
  map: Map;
  /** Whether nothing comes of the file as its columns are taken. */
  isNeeded: boolean;
  onChange: (map: Map) => void;
};

/** What each column of the file is taken for, and a way to say it otherwise. */
export function Columns({ columns, undecided, of, map, isNeeded, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const names = Object.keys(columns).filter((name) => name !== '');
  if (names.length === 0) return null;
  const unknown = names.filter((name) => columns[name] === null);
  const ignored = names.filter((name) => columns[name] === '');
  const set = (some: readonly string[], fieldOf: (name: string) => string) =>
    onChange({ ...map, ...Object.fromEntries(some.map((name) => [name, fieldOf(name)])) });
  return (
    <details
      className="import-columns"
      // Once open it stays so: the focus may be in it.
      open={isOpen || isNeeded || unknown.length > 0}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        Columns{' '}
        <span className="quiet">
          {[
            `${names.length - unknown.length - ignored.length} taken`,
            ignored.length > 0 && `${ignored.length} ignored`,
            unknown.length > 0 && `${unknown.length} unknown`,
          ]
            .filter(Boolean)
            .join(', ')}
        </span>
      </summary>
      {undecided.length > 1 && (
        <p className="moves">
          <span className="quiet">All that are unknown:</span>
          <Button small onPress={() => set(undecided, () => '')}>
            Leave out
          </Button>
          {of.hasAttributes && (
            <Button small onPress={() => set(undecided, attributeOf)}>
              Keep as attributes
            </Button>
          )}
        </p>
      )}
      <ul>
        {names.map((name) => (
          <ColumnChoice
            key={name}
            name={name}
            taken={map[name] ?? columns[name] ?? null}
            of={of}
            onChange={(field) => set([name], () => field)}
          />
        ))}
      </ul>
    </details>
  );
}

/** What keeps a column as an attribute of its own name, without what parts the pairs of a map. */
const attributeOf = (name: string) => `attributes.${name.replace(/^attributes\./, '').replace(/[,=]/g, ' ')}`;

type ChoiceProps = {
  name: string;
  taken: string | null;
  of: Importable;
  onChange: (field: string) => void;
};

/** `?` stands for what has not been said yet. */
function ColumnChoice({ name, taken, of, onChange }: ChoiceProps) {
  const attribute = attributeOf(name);
  const isOther = taken !== null && taken !== '' && taken !== attribute && !(taken in of.fields);
  return (
    <li>
      <label>
        <bdi>{name}</bdi>
        <select value={taken ?? '?'} onChange={({ target }) => onChange(target.value)}>
          {taken === null && (
            <option value="?" disabled>
              What is it?
            </option>
          )}
          <option value="">Leave out</option>
          {of.hasAttributes && <option value={attribute}>Keep as an attribute</option>}
          {isOther && <option value={taken}>{nameOf(of, taken)}</option>}
          {Object.entries(of.fields).map(([field, label]) => (
            <option key={field} value={field}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </li>
  );
}
