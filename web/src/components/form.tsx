import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ApiProblem } from '../api/client.ts';
import { leaveWhenUnauthenticated } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { GroupPicker, PersonPicker, ProjectPicker } from './picker.tsx';
import { ProblemNotice } from './problem.tsx';

export type Field = {
  name: string;
  label: string;
  kind:
    | 'line'
    | 'text'
    | 'day'
    | 'number'
    | 'choice'
    | 'list'
    | 'person'
    | 'group'
    | 'project'
    | 'projects'
    | 'checks';
  required?: boolean;
  hint?: string;
  /** Of a choice: value and label. */
  options?: readonly (readonly [value: string, label: string])[];
  min?: number | string;
  max?: number | string;
  /** Takes half of the width, beside another. */
  half?: boolean;
  /** The name of the person, group or project that the initial value is the id of. */
  shown?: string | null;
};

/** What a form holds while it is filled in; `valuesOf` makes of it what the API takes. */
type Draft = Record<string, string | string[]>;
export type Values = Record<string, unknown>;

type Props = {
  fields: readonly Field[];
  initial?: Values;
  action: string;
  danger?: boolean;
  /** With all values of a new thing, or those that were changed of one that `initial` is. */
  submit: (values: Values) => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
};

/** Fields one below the other; what the service finds wrong is said beside the field it is about. */
export function Form({ fields, initial, action, danger, submit, onClose, children }: Props) {
  const may = useMay();
  const shown = fields.filter(({ kind }) => !['person', 'group'].includes(kind) || may('personnel.read'));
  const [draft, setDraft] = useState(() => draftOf(shown, initial));
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const faults = error instanceof ApiProblem ? error.faults : [];
  const faultOf = (name: string) => faults.find(({ pointer }) => pointer?.startsWith(`#/${name}`))?.detail;
  const isPlaced =
    faults.length > 0 &&
    faults.every(({ pointer }) => shown.some(({ name }) => pointer?.startsWith(`#/${name}`)));

  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);

  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const values = valuesOf(shown, draft);
      await submit(initial ? changesOf(values, valuesOf(shown, draftOf(shown, initial))) : given(values));
      onClose();
    } catch (problem) {
      leaveWhenUnauthenticated(problem);
      setError(problem as Error);
      setBusy(false);
    }
  };

  return (
    <form ref={form} className="form" onSubmit={send}>
      <div className="dialog-body">
        {children}
        {error && !isPlaced && <ProblemNotice error={error} />}
        <div className="fields">
          {shown.map((field) => (
            <FieldRow
              key={field.name}
              field={field}
              value={draft[field.name] ?? ''}
              fault={faultOf(field.name)}
              onChange={(value) => setDraft((now) => ({ ...now, [field.name]: value }))}
            />
          ))}
        </div>
      </div>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" primary={!danger} danger={danger} isPending={isBusy}>
          {action}
        </Button>
      </footer>
    </form>
  );
}

type RowProps = {
  field: Field;
  value: string | string[];
  fault: string | undefined;
  onChange: (value: string | string[]) => void;
};

function FieldRow({ field, value, fault, onChange }: RowProps) {
  const id = useId();
  const described = [field.hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  const input = {
    id,
    required: field.required,
    'aria-invalid': fault ? ('true' as const) : undefined,
    'aria-describedby': described || undefined,
  };
  const isGroup = field.kind === 'checks';
  const Row = isGroup ? 'fieldset' : 'div';
  return (
    <Row className={field.half ? 'field half' : 'field'}>
      {isGroup ? (
        <legend>{field.label}</legend>
      ) : (
        <label htmlFor={id}>
          {field.label}
          {field.required && <span aria-hidden="true"> *</span>}
        </label>
      )}
      <Input field={field} input={input} value={value} onChange={onChange} />
      {field.hint && (
        <p className="hint" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
      {fault && (
        <p className="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </Row>
  );
}

type InputProps = Omit<RowProps, 'fault'> & { input: { id: string; required?: boolean } };

function Input({ field, input, value, onChange }: InputProps) {
  const { kind, options = [], min, max, shown } = field;
  const text = typeof value === 'string' ? value : '';
  const change = { onChange: (event: { target: { value: string } }) => onChange(event.target.value) };
  switch (kind) {
    case 'text':
      return <textarea {...input} {...change} rows={3} value={text} dir="auto" />;
    case 'choice':
      return (
        <select {...input} {...change} value={text}>
          {!field.required && <option value="">–</option>}
          {options.map(([one, label]) => (
            <option key={one} value={one}>
              {label}
            </option>
          ))}
        </select>
      );
    case 'checks':
      return (
        <div className="checks">
          {options.map(([one, label]) => (
            <label key={one}>
              <input
                type="checkbox"
                checked={value.includes(one)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...value, one] : [...value].filter((other) => other !== one))
                }
              />
              {label}
            </label>
          ))}
        </div>
      );
    case 'person':
      return (
        <PersonPicker {...input} label={field.label} value={text} name={shown ?? ''} onChange={onChange} />
      );
    case 'group':
      return (
        <GroupPicker {...input} label={field.label} value={text} name={shown ?? ''} onChange={onChange} />
      );
    case 'project':
      return (
        <ProjectPicker {...input} label={field.label} value={text} name={shown ?? ''} onChange={onChange} />
      );
    case 'projects':
      return <Projects input={input} label={field.label} chosen={[...value]} onChange={onChange} />;
    default: {
      const type = kind === 'day' ? 'date' : kind === 'number' ? 'number' : 'text';
      return (
        <input
          {...input}
          {...change}
          type={type}
          min={min}
          max={max}
          value={text}
          dir={type === 'text' ? 'auto' : undefined}
        />
      );
    }
  }
}

type ProjectsProps = {
  input: { id: string };
  label: string;
  chosen: string[];
  onChange: (keys: string[]) => void;
};

/** Any number of projects, by key. */
const Projects = ({ input, label, chosen, onChange }: ProjectsProps) => (
  <>
    {chosen.length > 0 && (
      <div className="moves">
        {chosen.map((key) => (
          <button
            key={key}
            type="button"
            className="filter set"
            aria-label={`Remove ${key}`}
            onClick={() => onChange(chosen.filter((other) => other !== key))}
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
      isEmptied
      onChange={(key) => {
        if (key !== '' && !chosen.includes(key)) onChange([...chosen, key]);
      }}
    />
  </>
);

function draftOf(fields: readonly Field[], values: Values = {}): Draft {
  return Object.fromEntries(
    fields.map(({ name, kind, required, options }) => {
      const value = values[name];
      if (kind === 'checks' || kind === 'projects')
        return [name, Array.isArray(value) ? value.map(String) : []];
      if (kind === 'list') return [name, Array.isArray(value) ? value.join(', ') : ''];
      if (value === null || value === undefined)
        return [name, (required && kind === 'choice' && options?.[0]?.[0]) || ''];
      return [name, String(value)];
    }),
  );
}

function valuesOf(fields: readonly Field[], draft: Draft): Values {
  return Object.fromEntries(
    fields.map(({ name, kind, options }) => {
      const value = draft[name];
      if (kind === 'projects' && value?.length === 0) return [name, null];
      if (typeof value !== 'string') return [name, value];
      if (kind === 'list')
        return [
          name,
          value
            .split(',')
            .map((one) => one.trim())
            .filter(Boolean),
        ];
      if (value.trim() === '') return [name, null];
      // Ratings are choices among numbers.
      const isNumber =
        kind === 'number' || (kind === 'choice' && options?.every(([one]) => /^\d+$/.test(one)));
      return [name, isNumber ? Number(value) : value];
    }),
  );
}

/** What was left empty is left out: the service has its defaults. */
const given = (values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

const changesOf = (values: Values, before: Values) =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
