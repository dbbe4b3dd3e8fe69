import { type ReactNode, useEffect, useState } from 'react';
import {
  Button as AriaButton,
  Checkbox,
  CheckboxGroup,
  Dialog,
  DialogTrigger,
  Input,
  Popover,
  SearchField,
} from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { words } from '../format.ts';
import { Button } from './button.tsx';
import { useDelayed } from './delayed.ts';
import { Empty } from './empty.tsx';
import { Icon } from './icon.tsx';

export type Filters = Record<string, string>;

/** The filters of a list are in the address: a view can be kept, sent and gone back to. */
export function useFilters(names: readonly string[]) {
  const [params, setParams] = useSearchParams();
  const filters: Filters = Object.fromEntries(
    [...params].filter(([name, value]) => names.includes(name) && value !== ''),
  );
  const set = (changes: Record<string, string | null>) =>
    setParams(
      (now) => {
        const next = new URLSearchParams(now);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace: true },
    );
  return {
    filters,
    isFiltered: Object.keys(filters).length > 0,
    set,
    clear: () => setParams(new URLSearchParams()),
    /** What the control of one of them needs. */
    choice: (name: string) => ({
      value: filters[name],
      onChange: (value: string | null) => set({ [name]: value }),
    }),
  };
}

type BarProps = {
  bar: ReturnType<typeof useFilters>;
  search: string;
  /** Filters that are set by a click elsewhere, and what is said of them. */
  applied?: Record<string, (value: string) => string>;
  children: ReactNode;
};

/** The filters above a list: its search, its own controls, what else is applied, and the way out of them. */
export const FilterBar = ({ bar: { filters, set, clear }, search, applied = {}, children }: BarProps) => (
  <search className="filters">
    <Search label={search} value={filters.q ?? ''} onChange={(q) => set({ q: q || null })} />
    {children}
    {Object.entries(applied).map(
      ([name, describe]) =>
        filters[name] && (
          <Applied key={name} label={describe(filters[name])} onRemove={() => set({ [name]: null })} />
        ),
    )}
    {Object.keys(filters).length > 1 && (
      <Button plain small onPress={clear}>
        Clear all
      </Button>
    )}
  </search>
);

/** Where the filters leave nothing: what to do about it. */
export const NoMatch = ({
  title,
  clear,
  children,
}: {
  title: string;
  clear: () => void;
  children: ReactNode;
}) => (
  <Empty title={title} action={<Button onPress={clear}>Clear the filters</Button>}>
    {children}
  </Empty>
);

/** Text that narrows a list while it is typed. */
function Search({
  value,
  onChange,
  label,
}: {
  value: string;
  onChange: (text: string) => void;
  label: string;
}) {
  const [text, setText] = useState(value);
  const delayed = useDelayed(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed is told, not what the address says
  useEffect(() => {
    if (delayed !== value) onChange(delayed);
  }, [delayed]);
  useEffect(() => setText(value), [value]);
  return (
    <SearchField className="search" aria-label={label} value={text} onChange={setText}>
      <Icon name="search" />
      <Input placeholder={label} dir="auto" />
    </SearchField>
  );
}

export type ChoiceProps = {
  label: string;
  value: string | undefined;
  options: readonly (readonly [value: string, label: ReactNode])[];
  onChange: (value: string | null) => void;
};

/** One of a list's filters: any of several values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  const chosen = value ? value.split(',') : [];
  const summary =
    chosen.length === 1
      ? (options.find(([one]) => one === chosen[0])?.[1] ?? words(chosen[0] ?? ''))
      : chosen.length;
  return (
    <DialogTrigger>
      <AriaButton className={chosen.length > 0 ? 'filter set' : 'filter'}>
        {label}
        {chosen.length > 0 && <span className="filter-value">{summary}</span>}
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover" placement="bottom start">
        <Dialog className="choices" aria-label={label}>
          <CheckboxGroup
            aria-label={label}
            value={chosen}
            onChange={(next) => onChange(next.length > 0 ? next.join(',') : null)}
          >
            {options.map(([one, name]) => (
              <Checkbox key={one} value={one} className="choice">
                <span className="tick" aria-hidden="true">
                  <Icon name="check" />
                </span>
                {name}
              </Checkbox>
            ))}
          </CheckboxGroup>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

/** A filter that is on or off. */
export const Toggle = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | null) => void;
}) => (
  <button
    type="button"
    className={value ? 'filter set' : 'filter'}
    aria-pressed={value === 'true'}
    onClick={() => onChange(value ? null : 'true')}
  >
    {label}
  </button>
);

/** A filter that the page has no control for, or that is set by a click elsewhere: shown, and taken away. */
const Applied = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <button type="button" className="filter set" aria-label={`Remove the filter ${label}`} onClick={onRemove}>
    {label}
    <Icon name="close" />
  </button>
);
