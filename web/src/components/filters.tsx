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
import { humanize } from '../format.ts';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import { Icon } from './icon.tsx';
import { useDebounced } from './use-debounced.ts';

export type Filters = Record<string, string>;

/** The filters of a list are in the URL, so that a view can be bookmarked and shared. */
export function useFilters(names: readonly string[]) {
  const [params, setParams] = useSearchParams();
  const filters: Filters = Object.fromEntries(
    [...params].filter(([name, value]) => names.includes(name) && value !== ''),
  );
  const set = (changes: Record<string, string | null>) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
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
    /** The props of the control of one filter. */
    bind: (name: string) => ({
      value: filters[name],
      onChange: (value: string | null) => set({ [name]: value }),
    }),
  };
}

export type FilterState = ReturnType<typeof useFilters>;

type BarProps = {
  state: FilterState;
  search: string;
  /** Labels of the filters that have no control here: links on other pages set them. */
  applied?: Record<string, (value: string) => string>;
  children: ReactNode;
};

/** The search and filter controls above a list. */
export const FilterBar = ({ state: { filters, set, clear }, search, applied = {}, children }: BarProps) => (
  <search className="filters">
    <Search label={search} value={filters.q ?? ''} onChange={(q) => set({ q: q || null })} />
    {children}
    {Object.entries(applied).map(
      ([name, describe]) =>
        filters[name] && (
          <FilterChip key={name} label={describe(filters[name])} onRemove={() => set({ [name]: null })} />
        ),
    )}
    {Object.keys(filters).length > 1 && (
      <Button plain small onPress={clear}>
        Clear all
      </Button>
    )}
  </search>
);

/** Shown when no row matches the filters. */
export const NoMatches = ({ title, clear }: { title: string; clear: () => void }) => (
  <Empty title={title} action={<Button onPress={clear}>Clear filters</Button>} />
);

/** Filters the list while the user types. */
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
  const debounced = useDebounced(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: reports only typed text, not changes of the URL
  useEffect(() => {
    if (debounced !== value) onChange(debounced);
  }, [debounced]);
  useEffect(() => setText(value), [value]);
  return (
    <SearchField className="search" aria-label={label} value={text} onChange={setText}>
      <Icon name="search" />
      <Input placeholder={label} dir="auto" />
    </SearchField>
  );
}

export type FilterMenuProps = {
  label: string;
  value: string | undefined;
  options: readonly (readonly [value: string, label: ReactNode])[];
  onChange: (value: string | null) => void;
};

/** A filter with several values; a row matches any of them. */
export function FilterMenu({ label, value, options, onChange }: FilterMenuProps) {
  const selected = value ? value.split(',') : [];
  const summary =
    selected.length === 1
      ? (options.find(([one]) => one === selected[0])?.[1] ?? humanize(selected[0] ?? ''))
      : selected.length;
  return (
    <DialogTrigger>
      <AriaButton className={selected.length > 0 ? 'filter set' : 'filter'}>
        {label}
        {selected.length > 0 && <span className="filter-value">{summary}</span>}
        <Icon name="down" />
      </AriaButton>
      <Popover className="popover" placement="bottom start">
        <Dialog className="filter-options" aria-label={label}>
          <CheckboxGroup
            aria-label={label}
            value={selected}
            onChange={(next) => onChange(next.length > 0 ? next.join(',') : null)}
          >
            {options.map(([one, name]) => (
              <Checkbox key={one} value={one} className="filter-option">
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
export const FilterToggle = ({
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

/** A filter without a control of its own: shows it and removes it. */
const FilterChip = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <button type="button" className="filter set" aria-label={`Remove filter: ${label}`} onClick={onRemove}>
    {label}
    <Icon name="close" />
  </button>
);
