import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, ComboBox, Input, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { api, dataOrThrow } from '../api/client.ts';
import { itemName } from '../api/items.ts';
import type { Person } from '../api/openapi.ts';
import { maxLimit } from '../api/pages.ts';
import { useMe } from '../api/session.ts';
import { formatDay, humanize, matchesText, startsWord, today } from '../format.ts';
import { errorLine } from './error-text.ts';
import { Icon } from './icon.tsx';
import { rememberPerson, useLastPerson } from './last-person.ts';
import { FirstOption, notChosen, PickerInput } from './picker-input.tsx';
import { useDebounced } from './use-debounced.ts';
import { useLoad } from './use-load.ts';

type Option = { id: string; name: string; note?: string | null };

type Props = {
  id?: string;
  label: string;
  value: string;
  /** The name of the item that `value` is the id of. */
  name: string;
  onChange: (id: string, name: string) => void;
  /** Where there is no label beside it. */
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  /** When the list opens; by default on focus. */
  menuTrigger?: 'focus' | 'input';
  /** Empties the input after each selection, to pick several items in a row. */
  clearsOnSelect?: boolean;
  /** The ids of items that are not offered. */
  excluded?: readonly string[];
  'aria-describedby'?: string;
  'aria-invalid'?: 'true';
};

const plurals = {
  person: 'people',
  assignee: 'people',
  owner: 'people and groups',
  group: 'groups',
  project: 'projects',
  risk: 'risks',
  issue: 'issues',
  department: 'departments',
  skill: 'skills',
  location: 'locations',
};

type PickerProps = Props & {
  kind: keyof typeof plurals;
  /** The project whose items are offered. */
  project?: string;
  search: (q: string, limit: number) => Promise<Option[]>;
  /** Come before what the service finds, if they match. */
  first?: readonly Option[];
  /** Highlights the first option without a search too, so that Enter takes it. */
  highlightsFirst?: boolean;
};

const maxOptions = 8;

/** With `clearsOnSelect`, a new combo box takes the place of the last one: a cleared one would stay open. */
function Picker({ clearsOnSelect = false, ...props }: PickerProps) {
  const [selections, setSelections] = useState(0);
  if (!clearsOnSelect) return <SearchBox {...props} />;
  return (
    <SearchBox
      {...props}
      key={selections}
      autoFocus={selections > 0 || props.autoFocus === true}
      menuTrigger="input"
      onChange={(id, name) => {
        setSelections((count) => count + 1);
        props.onChange(id, name);
      }}
    />
  );
}

/** A combo box whose options come from a search of the service. */
function SearchBox({
  id,
  label,
  value,
  name,
  onChange,
  kind,
  project,
  search,
  first: fixed = [],
  highlightsFirst = false,
  placeholder = `Search ${plurals[kind]}`,
  required,
  autoFocus,
  menuTrigger = 'focus',
  excluded = [],
  'aria-describedby': describedBy,
  'aria-invalid': invalid,
}: Omit<PickerProps, 'clearsOnSelect'>) {
  const [selected, setSelected] = useState<Option | undefined>(value ? { id: value, name } : undefined);
  const [text, setText] = useState(name);
  const [box, setBox] = useState<HTMLElement | null>(null);
  // The name of the initial value can be read later than the box is shown.
  if (selected?.name === '' && name !== '' && text === '') {
    setSelected({ id: selected.id, name });
    setText(name);
  }
  const [isOpen, setOpen] = useState(false);
  usePageStaysReadable(isOpen);
  const searched = text === selected?.name ? '' : text.trim();
  const q = useDebounced(searched);
  const {
    data = [],
    isFetching,
    isPlaceholderData,
    error,
  } = useQuery({
    queryKey: ['pick', kind, project, q, excluded.length],
    queryFn: () => search(q, Math.min(maxOptions + excluded.length, maxLimit)),
    placeholderData: keepPreviousData,
  });
  const isSearch = searched !== '';
  const hasResponse = q === searched && !isFetching && !isPlaceholderData;
  // Without a search, the selected item comes first.
  const top = selected && !isSearch ? [selected] : [];
  for (const one of fixed) {
    const isOffered = !excluded.includes(one.id) && !top.some(({ id }) => id === one.id);
    if (isOffered && startsWord(searched, one.name.replace('(', ''))) top.push(one);
  }
  const known = [...excluded, ...top.map(({ id }) => id)];
  const found = data.filter(({ id }) => !known.includes(id)).slice(0, maxOptions);
  const items = [...top, ...found];
  const isHighlighting = isSearch ? hasResponse : highlightsFirst && !selected;
  const first = isHighlighting ? items[0]?.id : undefined;
  const loadOf = useLoad(kind === 'assignee' && isOpen ? items.map(({ id }) => id) : []);
  const select = (key: React.Key | null) => {
    const next = items.find((one) => one.id === key);
    setSelected(next);
    setText(next?.name ?? '');
    onChange(next?.id ?? '', next?.name ?? '');
  };
  return (
    <ComboBox
      ref={setBox}
      className="picker"
      aria-label={label}
      items={items}
      inputValue={text}
      onInputChange={(next) => {
        setText(next);
        if (next.trim() === '' && selected) select(null);
      }}
      // While a text is searched for, it is kept as typed when the input is left, and any option can be chosen.
      allowsCustomValue
      selectedKey={isSearch ? null : (selected?.id ?? null)}
      onSelectionChange={select}
      onOpenChange={setOpen}
      menuTrigger={menuTrigger}
      allowsEmptyCollection
      isRequired={required ?? false}
      validate={() => (isSearch ? notChosen : null)}
      {...(describedBy && { 'aria-describedby': describedBy })}
    >
      <PickerInput isSearch={isSearch} hasResponse={hasResponse} first={first}>
        <Input
          {...(id && { id })}
          {...(invalid && { 'aria-invalid': invalid })}
          autoFocus={autoFocus}
          placeholder={placeholder}
          dir="auto"
        />
        <Button className="button plain small" aria-label={`Show ${plurals[kind]}`}>
          <Icon name="down" />
        </Button>
      </PickerInput>
      <Popover
        className="popover"
        // Screen readers that move from element to element reach the list right after the input.
        {...(box && { UNSTABLE_portalContainer: box })}
        // React Aria measures it from the edge of a popover around the combo box, not of the window.
        containerPadding={0}
        // The hidden button with which screen readers close the list would submit the form around it.
        onClick={(event) => event.preventDefault()}
      >
        <ListBox<Option>
          className="options"
          // Otherwise an option stays as it was before its load arrived.
          dependencies={[items.map(({ id }) => loadOf(id)).join()]}
          renderEmptyState={() =>
            error ? null : (
              <p className="hint">
                {!hasResponse
                  ? 'Searching…'
                  : kind === 'assignee' && data.length === 0
                    ? 'No assignable people match'
                    : 'No results'}
              </p>
            )
          }
        >
          {(one) => (
            <ListBoxItem className="option" textValue={one.name}>
              <bdi>{one.name}</bdi>
              {one.note && <span className="note">{one.note}</span>}
              {loadOf(one.id) && <span className="load">{loadOf(one.id)}</span>}
            </ListBoxItem>
          )}
        </ListBox>
        {error && (
          <p className="hint" role="alert">
            Couldn't search. {errorLine(error)}
          </p>
        )}
      </Popover>
      <FirstOption id={first} />
    </ComboBox>
  );
}

/**
 * React Aria sets `aria-hidden` on everything but an open combo box, because its list is usually at the end of the
 * document. The rest can still get the focus, then unheard, and a form around the combo box can't be read meanwhile.
 * It leaves out elements with this attribute, and has no option for it:
 * https://github.com/adobe/react-spectrum/issues/4937. The attribute is removed at once, because dialogs look for it too.
 */
function usePageStaysReadable(isOpen: boolean): void {
  const attribute = 'data-react-aria-top-layer';
  const marked = useRef<Element[]>([]);
  // Before the effect of the combo box, which hides the elements.
  useLayoutEffect(() => {
    if (!isOpen) return;
    // Messages have the attribute all the time.
    marked.current = [...document.body.children].filter((element) => !element.hasAttribute(attribute));
    for (const element of marked.current) element.setAttribute(attribute, '');
  }, [isOpen]);
  // After it, as the effects of a parent run after those of its children.
  useEffect(() => {
    if (isOpen) for (const element of marked.current) element.removeAttribute(attribute);
  }, [isOpen]);
}

/**
 * Finds people that work can be assigned to. Whoever has signed in is the first of them. With `offersLast`, the person who
 * was chosen last comes before, and Enter takes the first one.
 */
export function PersonPicker({ offersLast = false, ...props }: Props & { offersLast?: boolean }) {
  const { user_id, name } = useMe();
  const last = useLastPerson();
  const me = user_id === null ? [] : [{ id: user_id, name: `Me (${name})` }];
  return (
    <Picker
      {...props}
      kind="assignee"
      search={findAssignable}
      first={offersLast && last ? [last, ...me] : me}
      highlightsFirst={offersLast}
      onChange={(id, chosen) => {
        if (id) rememberPerson({ id, name: chosen });
        props.onChange(id, chosen);
      }}
    />
  );
}

/** Finds everyone, also people who have left, to look for their work. "Me" is a choice for whoever has signed in. */
export function AnyonePicker(props: Props) {
  const isPerson = useMe().user_id !== null;
  return (
    <Picker
      {...props}
      kind="person"
      search={findPeople}
      first={isPerson ? [{ id: currentPerson, name: 'Me' }] : []}
    />
  );
}

/** Finds everyone, to say who a name in a file is. */
export const RosterPicker = (props: Props) => <Picker {...props} kind="person" search={findPeople} />;

/** Finds people and groups. */
export const OwnerPicker = (props: Props) => (
  <Picker
    {...props}
    kind="owner"
    search={async (q, limit) => {
      const [people, groups] = await Promise.all([findPeople(q, limit), findGroups(q, limit)]);
      return [...people.slice(0, limit - Math.min(groups.length, 3)), ...groups];
    }}
  />
);

/** In a filter of people it stands for the person who has signed in, so that a view is about whoever opens it. */
export const currentPerson = 'me';

async function findPeople(q: string, limit: number): Promise<Option[]> {
  const query = bestMatches(q, limit);
  const { data } = await dataOrThrow(api.GET('/v1/personnel', { params: { query } }));
  return data.map((person) => ({ id: person.user_id, name: person.name, note: noteOn(person) }));
}

/** With their skills, to choose whom to assign work to. */
async function findAssignable(q: string, limit: number): Promise<Option[]> {
  const query = { ...bestMatches(q, limit), assignable: true };
  const { data } = await dataOrThrow(api.GET('/v1/personnel', { params: { query } }));
  return data.map(({ user_id, name, title, skills }) => ({
    id: user_id,
    name,
    note: [title, skills.slice(0, 3).join(', ')].filter(Boolean).join(' · '),
  }));
}

/** The title, or why nothing can be assigned to the person. */
function noteOn({ assignable, status, start_on, end_on, title }: Person): string | null {
  if (assignable) return title;
  if (status !== 'active') return 'Inactive';
  if (start_on && start_on > today()) return `Starts ${formatDay(start_on)}`;
  return end_on && `Last day ${formatDay(end_on)}`;
}

async function findGroups(q: string, limit: number): Promise<Option[]> {
  const { data } = await dataOrThrow(api.GET('/v1/groups', { params: { query: bestMatches(q, limit) } }));
  return data.map(({ id, name }) => ({ id, name }));
}

export const GroupPicker = (props: Props) => <Picker {...props} kind="group" search={findGroups} />;

export const ProjectPicker = (props: Props) => (
  <Picker
    {...props}
    kind="project"
    search={async (q, limit) => {
      const query = bestMatches(q, limit);
      const { data } = await dataOrThrow(api.GET('/v1/projects', { params: { query } }));
      return data.map(({ key, name }) => ({ id: key, name, note: key }));
    }}
  />
);

/** Finds the values of a field among the people that the text matches, and among the first ones without a text. */
const valuePicker =
  (kind: 'department' | 'skill' | 'location', valuesOf: (person: Person) => readonly (string | null)[]) =>
  (props: Props) => (
    <Picker
      {...props}
      kind={kind}
      search={async (q, limit) => {
        const query = { limit: maxLimit, ...(q && { q, search: 'all' as const }) };
        const { data } = await dataOrThrow(api.GET('/v1/personnel', { params: { query } }));
        const values = data.flatMap(valuesOf).filter((value) => value !== null && matchesText(q, value));
        const names = [...new Set(values as string[])].toSorted((a, b) => a.localeCompare(b));
        return names.slice(0, limit).map((name) => ({ id: name, name }));
      }}
    />
  );

export const DepartmentPicker = valuePicker('department', ({ department }) => [department]);
export const SkillPicker = valuePicker('skill', ({ skills }) => skills);
export const LocationPicker = valuePicker('location', ({ location }) => [location]);

type ItemProps = Props & { kind: 'risk' | 'issue'; project: string };

/** Finds risks or issues of a project, in every status. */
export const ItemPicker = (props: ItemProps) => (
  <Picker
    {...props}
    search={async (q, limit) => {
      const query = {
        ...bestMatches(q, limit),
        project: [props.project],
        status: ['all' as const],
      };
      const { data } =
        props.kind === 'risk'
          ? await dataOrThrow(api.GET('/v1/risks', { params: { query } }))
          : await dataOrThrow(api.GET('/v1/issues/all', { params: { query } }));
      return data.map(({ id, key, title, status }) => ({
        id,
        name: itemName({ key, title }),
        note: humanize(status),
      }));
    }}
  />
);

const bestMatches = (q: string, limit: number) => ({ limit, ...(q && { q, sort: 'relevance' as const }) });
