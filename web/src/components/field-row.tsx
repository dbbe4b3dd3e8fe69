import { type ReactNode, useId } from 'react';
import { areaLabel, scopeLabel } from '../format.ts';
import { EventTypes } from './event-types.tsx';
import type { Field } from './form-values.ts';
import { Icon } from './icon.tsx';
import { GroupPicker, ItemPicker, PersonPicker, ProjectPicker } from './picker.tsx';

type RowProps = {
  field: Field;
  value: string | string[];
  error: string | undefined;
  /** Instead of the input of its kind. */
  input?: ReactNode;
  /** A picker also passes the name of the selected item. */
  onChange: (value: string | string[], name?: string) => void;
};

/** A field of a form with its label, hint and error. */
export function FieldRow({ field, value, error, input: ownInput, onChange }: RowProps) {
  const id = useId();
  const described = [field.hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const input = {
    id,
    required: field.required,
    'aria-invalid': error ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
  };
  const isGroup = field.kind === 'scopes' || field.kind === 'event-types' || ownInput;
  const Row = isGroup ? 'fieldset' : 'div';
  const label = (
    <>
      {field.label}
      {field.required && <span aria-hidden="true"> *</span>}
    </>
  );
  return (
    <>
      {field.section && <h3 className="form-section">{field.section}</h3>}
      <Row
        className={field.half ? 'field half' : 'field'}
        data-field-row={field.name}
        aria-describedby={(isGroup && described) || undefined}
      >
        {isGroup ? <legend>{label}</legend> : <label htmlFor={id}>{label}</label>}
        {ownInput ?? <FieldInput field={field} input={input} value={value} onChange={onChange} />}
        {field.hint && (
          <p className="hint" id={`${id}-hint`}>
            {field.hint}
          </p>
        )}
        {error && (
          <p className="field-error" id={`${id}-error`}>
            {error}
          </p>
        )}
      </Row>
    </>
  );
}

type InputProps = Omit<RowProps, 'error' | 'input'> & {
  input: {
    id: string;
    required?: boolean | undefined;
    'aria-label'?: string;
    'aria-invalid'?: 'true' | undefined;
    'aria-describedby'?: string | undefined;
  };
};

/** The input of a field, by its kind. */
export function FieldInput({ field, input, value, onChange }: InputProps) {
  const { kind, label, options = [], min, max, suggestions, selectedName } = field;
  const text = typeof value === 'string' ? value : '';
  const change = { onChange: (event: { target: { value: string } }) => onChange(event.target.value) };
  const picker = {
    ...input,
    label,
    value: text,
    name: selectedName ?? '',
    onChange,
    // A form focuses its first field, which must not cover the others with a list.
    menuTrigger: 'input' as const,
  };
  switch (kind) {
    case 'text':
      return <textarea {...input} {...change} rows={3} value={text} dir="auto" />;
    case 'choice':
      return (
        <select {...input} {...change} value={text}>
          {!field.required && <option value="">–</option>}
          {options.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      );
    case 'scopes':
      return <Scopes options={options} checked={[...value]} onChange={onChange} />;
    case 'event-types':
      return <EventTypes options={options} checked={[...value]} onChange={onChange} />;
    case 'person':
      return (
        <PersonPicker
          {...picker}
          {...(field.excluded && { excluded: field.excluded })}
          {...(field.offersLast && { offersLast: true, menuTrigger: 'focus' })}
        />
      );
    case 'group':
      return <GroupPicker {...picker} />;
    case 'project':
      return <ProjectPicker {...picker} />;
    case 'risk':
    case 'issue':
      return <ItemPicker {...picker} kind={kind} project={field.project ?? ''} />;
    case 'projects':
      return <Projects input={input} label={label} selected={[...value]} onChange={onChange} />;
    default: {
      const type = kind === 'day' ? 'date' : kind === 'number' ? 'number' : 'text';
      const listId = suggestions && `${input.id}-suggestions`;
      return (
        <>
          <input
            {...input}
            {...change}
            type={type}
            min={min}
            max={max}
            list={listId}
            value={text}
            dir={type === 'text' ? 'auto' : undefined}
          />
          {suggestions && (
            <datalist id={listId}>
              {suggestions.map((suggestion) => (
                <option key={suggestion} value={suggestion} />
              ))}
            </datalist>
          )}
        </>
      );
    }
  }
}

type ScopesProps = {
  options: NonNullable<Field['options']>;
  checked: string[];
  onChange: (checked: string[]) => void;
};

/** A row for each area with a box for each of its scopes. */
function Scopes({ options, checked, onChange }: ScopesProps) {
  const scopes = options.map(([scope]) => String(scope));
  const areas = [...new Set(scopes.map((scope) => scope.split('.')[0] ?? ''))];
  const box = (scope: string) =>
    scopes.includes(scope) && (
      <input
        type="checkbox"
        aria-label={scopeLabel(scope)}
        title={scope}
        checked={checked.includes(scope)}
        onChange={({ target }) =>
          onChange(target.checked ? [...checked, scope] : checked.filter((one) => one !== scope))
        }
      />
    );
  return (
    <table className="scopes">
      <thead>
        <tr>
          <th scope="col">Area</th>
          <th scope="col">Read</th>
          <th scope="col">Manage</th>
        </tr>
      </thead>
      <tbody>
        {areas.map((area) => (
          <tr key={area}>
            <th scope="row">{areaLabel(area)}</th>
            <td>{box(`${area}.read`)}</td>
            <td>{box(`${area}.manage`)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type ProjectsProps = {
  input: { id: string };
  label: string;
  selected: string[];
  onChange: (keys: string[]) => void;
};

/** Selects several projects by key. */
const Projects = ({ input, label, selected, onChange }: ProjectsProps) => (
  <>
    {selected.length > 0 && (
      <div className="button-row">
        {selected.map((key) => (
          <button
            key={key}
            type="button"
            className="filter set"
            aria-label={`Remove ${key}`}
            onClick={() => onChange(selected.filter((one) => one !== key))}
          >
            {key}
            <Icon name="close" />
          </button>
        ))}
      </div>
    )}
    <ProjectPicker
      {...input}
      label={label}
      value=""
      name=""
      clearsOnSelect
      onChange={(key) => {
        if (key !== '' && !selected.includes(key)) onChange([...selected, key]);
      }}
    />
  </>
);
