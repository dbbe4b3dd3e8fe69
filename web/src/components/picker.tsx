import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, ComboBox, Input, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { answerOf, api } from '../api/client.ts';
import { useDelayed } from './delayed.ts';
import { Icon } from './icon.tsx';

type Option = { id: string; name: string; note?: string | null };

type Props = {
  id?: string;
  label: string;
  value: string;
  /** The name of what is chosen already. */
  name: string;
  onChange: (id: string, name: string) => void;
  required?: boolean;
  autoFocus?: boolean;
  /** Whether what is chosen goes elsewhere, and the next can be found at once. */
  isEmptied?: boolean;
  'aria-describedby'?: string;
  'aria-invalid'?: 'true';
};

type PickerProps = Props & { kind: string; search: (q: string) => Promise<Option[]> };

/** Finds one of many by typing: the service searches, a few are shown. */
function Picker({
  id,
  label,
  value,
  name,
  onChange,
  kind,
  search,
  required,
  autoFocus,
  isEmptied = false,
  ...aria
}: PickerProps) {
  const [chosen, setChosen] = useState<Option | undefined>(value ? { id: value, name } : undefined);
  const [text, setText] = useState(name);
  const q = useDelayed(text === chosen?.name ? '' : text.trim());
  const { data = [] } = useQuery({
    queryKey: ['pick', kind, q],
    queryFn: () => search(q),
    placeholderData: keepPreviousData,
  });
  const items = [...(chosen ? [chosen] : []), ...data.filter((one) => one.id !== chosen?.id)];
  const choose = (key: React.Key | null) => {
    const next = items.find((one) => one.id === key);
    setChosen(isEmptied ? undefined : next);
    setText(isEmptied ? '' : (next?.name ?? ''));
    onChange(next?.id ?? '', next?.name ?? '');
  };
  return (
    <ComboBox
      className="picker"
      aria-label={label}
      items={items}
      inputValue={text}
      onInputChange={(next) => {
        setText(next);
        if (next === '' && chosen) choose(null);
      }}
      selectedKey={chosen?.id ?? null}
      onSelectionChange={choose}
      menuTrigger="focus"
      allowsEmptyCollection
      isRequired={required ?? false}
    >
      <div className="picker-box">
        <Input
          {...(id && { id })}
          {...aria}
          autoFocus={autoFocus}
          placeholder={`Find a ${kind}`}
          dir="auto"
        />
        <Button className="button plain small" aria-label={`Show ${kind} list`}>
          <Icon name="down" />
        </Button>
      </div>
      <Popover className="popover">
        <ListBox<Option>
          className="options"
          renderEmptyState={() => <p className="hint">Nobody and nothing by that name.</p>}
        >
          {(one) => (
            <ListBoxItem className="option" textValue={one.name}>
              <bdi>{one.name}</bdi>
              {one.note && <span className="note">{one.note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** People who can take something on. */
export const PersonPicker = (props: Props) => (
  <Picker
    {...props}
    kind="person"
    search={async (q) => {
      const query = { limit: 8, assignable: true, ...(q && { q }) };
      const { data } = await answerOf(api.GET('/v1/personnel', { params: { query } }));
      return data.map(({ user_id, name, title }) => ({ id: user_id, name, note: title }));
    }}
  />
);

export const GroupPicker = (props: Props) => (
  <Picker
    {...props}
    kind="group"
    search={async (q) => {
      const { data } = await answerOf(
        api.GET('/v1/groups', { params: { query: { limit: 8, ...(q && { q }) } } }),
      );
      return data.map(({ id, name }) => ({ id, name }));
    }}
  />
);

/** Projects that take something in. */
export const ProjectPicker = (props: Props) => (
  <Picker
    {...props}
    kind="project"
    search={async (q) => {
      const { data } = await answerOf(
        api.GET('/v1/projects', { params: { query: { limit: 8, ...(q && { q }) } } }),
      );
      return data.map(({ key, name }) => ({ id: key, name, note: key }));
    }}
  />
);
