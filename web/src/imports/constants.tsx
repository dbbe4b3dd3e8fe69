import { useId } from 'react';
import { Button } from '../components/button.tsx';
import { ProjectPicker } from '../components/picker.tsx';
import { isComposing } from '../components/use-shortcut.ts';
import { Mapping } from './mapping.tsx';
import type { ColumnMap } from './run-import.ts';
import type { Settings } from './settings.ts';
import { fieldLabel, type ImportTarget } from './targets.ts';

type Constants = Settings['set'];

type Props = {
  target: ImportTarget;
  columns: ColumnMap;
  constants: Constants;
  /** The file has no column for the project of its rows. */
  isProjectMissing: boolean;
  onChange: (constants: Constants) => void;
};

/** Values for rows that have none, such as the day on which all of them were raised. */
export function ConstantValues({ target, columns, constants, isProjectMissing, onChange }: Props) {
  const mapped = new Set(Object.values(columns));
  const given = Object.keys(constants);
  const shown = isProjectMissing && !given.includes('project') ? ['project', ...given] : given;
  const free = Object.keys(target.fields).filter((field) => !mapped.has(field) && !shown.includes(field));
  const set = (field: string, value: string | undefined) => {
    const { [field]: _, ...others } = constants;
    onChange(value === undefined ? others : { ...others, [field]: value });
  };
  return (
    <Mapping
      title="Values for all rows"
      counts={[given.length > 0 && given.map((field) => fieldLabel(target, field)).join(', ')]}
      isForcedOpen={isProjectMissing || given.length > 0}
    >
      <p className="hint">For rows in which the file has no value.</p>
      <ul>
        {shown.map((field) => (
          <Constant
            key={field}
            field={field}
            label={fieldLabel(target, field)}
            value={constants[field] ?? ''}
            onChange={(value) => set(field, value)}
          />
        ))}
      </ul>
      {free.length > 0 && (
        <p>
          <select aria-label="Add value" value="" onChange={({ target: { value } }) => set(value, '')}>
            <option value="" disabled>
              Add value for…
            </option>
            {free.map((field) => (
              <option key={field} value={field}>
                {fieldLabel(target, field)}
              </option>
            ))}
          </select>
        </p>
      )}
    </Mapping>
  );
}

type ConstantProps = {
  field: string;
  label: string;
  value: string;
  onChange: (value: string | undefined) => void;
};

/** The input keeps its text to itself until it is left or Enter is pressed, because each value starts a check. */
function Constant({ field, label, value, onChange }: ConstantProps) {
  const id = useId();
  const commit = (input: HTMLInputElement) => input.value.trim() !== value && onChange(input.value.trim());
  return (
    <li className="import-constant">
      <label htmlFor={id}>{label}</label>
      {field === 'project' ? (
        <ProjectPicker id={id} label={label} value={value} name={value} onChange={(key) => onChange(key)} />
      ) : (
        <input
          id={id}
          type={/_(on|until)$/.test(field) ? 'date' : 'text'}
          defaultValue={value}
          onBlur={({ target }) => commit(target)}
          onKeyDown={({ key, currentTarget, nativeEvent }) =>
            key === 'Enter' && !isComposing(nativeEvent) && commit(currentTarget)
          }
        />
      )}
      <Button plain small icon="close" aria-label={`Remove ${label}`} onPress={() => onChange(undefined)} />
    </li>
  );
}
