import { type ReactNode, useEffect, useState } from 'react';
import {
  Button as AriaButton,
  Checkbox,
  CheckboxGroup,
  DialogTrigger,
  Input,
  Popover,
  SearchField,
} from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { formatDay, formatDayOrText, formatTime, humanize, matchesText, today } from '../format.ts';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import { Icon } from './icon.tsx';

export type Filters = Record<string, string>;

/** The filters of a list are in the URL, so that a view can be bookmarked and shared. */
export function useFilters(names: readonly string[]) {
  const [params, setParams] = useSearchParams();
  const filters: Filters = Object.fromEntries(
    [...params].filter(([name, value]) => names.includes(name) && value !== ''),
  );
  /** `replace` adds no step to the browser's history. */
  const set = (changes: Record<string, string | null>, { replace = false } = {}) =>
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace },
    );
  return {
    filters,
    isFiltered: countFilters(filters) > 0,
    set,
    clear: () =>
      set(Object.fromEntries(names.filter((name) => !notFilters.includes(name)).map((name) => [name, null]))),
    /** The props of the control of one filter. */
    bind: (name: string) => ({
      value: filters[name],
      onChange: (value: string | null) => set({ [name]: value }),
    }),
  };
}

/** The order and the day of a list are in the URL too, but hide no rows, so they stay when the filters are cleared. */
const notFilters = ['sort', 'as_of', 'since'];
const countFilters = (filters: Filters) =>
  Object.keys(filters).filter(
    (name) => !['search', 'transitive'].includes(name) && !notFilters.includes(name),
  ).length;

export type FilterState = ReturnType<typeof useFilters>;

type BarProps = {
  state: FilterState;
  search: string;
  /** Whether the search can include the descriptions of the rows. */
  hasDescriptions?: boolean;
  /** Labels of the filters that have no control here: links on other pages set them. */
  applied?: Record<string, (value: string) => string>;
  children: ReactNode;
  /** At the end of the line. */
  action?: ReactNode;
};

/** The search and filter controls above a list. */
export const FilterBar = ({
  state: { filters, set, clear },
  search,
  hasDescriptions = false,
  applied = {},
  children,
  action,
}: BarProps) => (
  <search className="filters">
    <span className="print-only">
      Printed {formatDay(today())}. {countFilters(filters) === 0 && 'No filters.'}{' '}
    </span>
    <Search
      label={search}
      value={filters.q ?? ''}
      // A step back undoes a whole search, not one pause in typing.
      onChange={(q) =>
        set(q ? { q } : { q: null, search: null }, { replace: q !== '' && filters.q !== undefined })
      }
    />
    {hasDescriptions && filters.q && (
      <Toggle
        isOn={filters.search === 'all'}
        onPress={() => set({ search: filters.search === 'all' ? null : 'all' })}
      >
        In descriptions too
      </Toggle>
    )}
    {filters.search === 'all' && <PrintedFilter>In descriptions too</PrintedFilter>}
    {children}
    {Object.entries(applied).map(
      ([name, describe]) =>
        filters[name] && (
          <FilterChip key={name} label={describe(filters[name])} onRemove={() => set({ [name]: null })} />
        ),
    )}
    {countFilters(filters) > 1 && (
      <Button plain small onPress={clear}>
        Clear all
      </Button>
    )}
    {action}
  </search>
);

/** The label of the filter that the result of an import sets. */
export const changedFilter = {
  updated_since: (value: string) =>
    `Changed since ${Number.isNaN(Date.parse(value)) ? value : formatTime(value)}`,
};

/** Labels of the filters by a day that only links set. */
export const dayFilters = (name: string, label: string): BarProps['applied'] => ({
  [`${name}_after`]: (day) => `${label} after ${formatDayOrText(day)}`,
  [`${name}_before`]: (day) => `${label} before ${formatDayOrText(day)}`,
});

/** What a filter contributes to the printout, which has no controls. */
export const PrintedFilter = ({ children }: { children: ReactNode }) => (
  <span className="print-only printed-filter">{children}</span>
);

type NoMatchesProps = { title: string; clear: () => void; searchAll?: (() => void) | undefined };

/** Shown when no row matches the filters. */
export const NoMatches = ({ title, clear, searchAll }: NoMatchesProps) => (
  <Empty
    title={title}
    action={
      <>
        {searchAll && <Button onPress={searchAll}>Search descriptions too</Button>}
        <Button onPress={clear}>Clear filters</Button>
      </>
    }
  />
);

/** One request per pause in typing, not one per key. */
const pauseMs = 200;

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
  /** The text until it is reported. Another value, for example after a step back, takes its place. */
  const [typed, setTyped] = useState<string>();
  const [lastValue, setLastValue] = useState(value);
  if (value !== lastValue) {
    setLastValue(value);
    setTyped(undefined);
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when a key was pressed
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      setTyped(undefined);
      if (typed !== value) onChange(typed);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <SearchField className="search" aria-label={label} value={typed ?? value} onChange={setTyped}>
        <Icon name="search" />
        <Input placeholder={label} dir="auto" />
      </SearchField>
      {value && <PrintedFilter>Search: {value}</PrintedFilter>}
    </>
  );
}

export type FilterMenuProps = {
  label: string;
  value: string | undefined;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string | null) => void;
  /** Follows the values. */
  children?: ReactNode;
};

/** A filter with several values; a row matches any of them. A long list of values has a search. */
export function FilterMenu({ label, value, options, onChange, children }: FilterMenuProps) {
  const [text, setText] = useState('');
  const selected = value ? value.split(',') : [];
  const hasSearch = options.length > 12;
  const shown = options.filter(([one, name]) => matchesText(text, name) || matchesText(text, one));
  const names = selected.map((one) => options.find(([value]) => value === one)?.[1] ?? humanize(one));
  const summary = names.length === 1 ? names[0] : names.length;
  return (
    <DialogTrigger onOpenChange={() => setText('')}>
      <AriaButton className={selected.length > 0 ? 'filter set' : 'filter'}>
        {label}
        {selected.length > 0 && <span className="filter-value">{summary}</span>}
        <Icon name="down" />
      </AriaButton>
      {names.length > 0 && (
        <PrintedFilter>
          {label}: {names.join(', ')}
        </PrintedFilter>
      )}
      <Popover className="popover filter-options" placement="bottom start" aria-label={label}>
        {hasSearch && (
          <SearchField
            className="search"
            aria-label={`Search ${label}`}
            autoFocus
            value={text}
            onChange={setText}
          >
            <Icon name="search" />
            <Input placeholder="Search" dir="auto" />
          </SearchField>
        )}
        {shown.length === 0 && <p className="hint">No results</p>}
        <CheckboxGroup
          aria-label={label}
          value={selected}
          onChange={(next) => onChange(next.length > 0 ? next.join(',') : null)}
        >
          {shown.map(([one, name]) => (
            <Checkbox key={one} value={one} className="filter-option">
              <span className="tick" aria-hidden="true">
                <Icon name="check" />
              </span>
              <bdi>{name}</bdi>
            </Checkbox>
          ))}
        </CheckboxGroup>
        {children}
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
  <>
    <button
      type="button"
      className={value ? 'filter set' : 'filter'}
      aria-pressed={value === 'true'}
      onClick={() => onChange(value ? null : 'true')}
    >
      {label}
    </button>
    {value && <PrintedFilter>{value === 'true' ? label : `${label}: No`}</PrintedFilter>}
  </>
);

type ToggleProps = { isOn: boolean; onPress: () => void; children: ReactNode };

/** One of several buttons that choose what a list shows. */
export const Toggle = ({ isOn, onPress, children }: ToggleProps) => (
  <button type="button" className={isOn ? 'filter set' : 'filter'} aria-pressed={isOn} onClick={onPress}>
    {children}
  </button>
);

/** A filter without a control of its own: shows it and removes it. */
const FilterChip = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <>
    <button type="button" className="filter set" aria-label={`Remove filter: ${label}`} onClick={onRemove}>
      {label}
      <Icon name="close" />
    </button>
    <PrintedFilter>{label}</PrintedFilter>
  </>
);
