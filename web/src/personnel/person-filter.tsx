import { useState } from 'react';
import { Button as AriaButton, DialogTrigger, Popover } from 'react-aria-components';
import { useHasScope, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { type FilterState, FilterToggle, PrintedFilter } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import {
  AnyonePicker,
  currentPerson,
  DepartmentPicker,
  GroupPicker,
  LocationPicker,
  SkillPicker,
} from '../components/picker.tsx';
import { useGroup } from '../groups/queries.ts';
import { usePerson } from './queries.ts';

type Props = { label: string; value: string | undefined; onChange: (value: string | null) => void };

/** Filters a list by a person, or by whoever has signed in. */
export function PersonFilter(props: Props) {
  const canRead = useHasScope()('personnel.read');
  const isPerson = useMe().user_id !== null;
  const isMe = props.value === currentPerson;
  const { data } = usePerson(canRead && !isMe ? (props.value ?? null) : null);
  if (!canRead && isPerson && (isMe || props.value === undefined)) {
    return (
      <FilterToggle
        label={`${props.label}: Me`}
        value={isMe ? 'true' : undefined}
        onChange={(isOn) => props.onChange(isOn && currentPerson)}
      />
    );
  }
  const name = isMe ? 'Me' : (data?.name ?? 'Selected person');
  return <PickerFilter {...props} name={name} Picker={AnyonePicker} />;
}

/** Filters a list by a group. */
export function GroupFilter(props: Props) {
  const canRead = useHasScope()('personnel.read');
  const { data } = useGroup(canRead ? (props.value ?? null) : null);
  return <PickerFilter {...props} name={data?.name ?? 'Selected group'} Picker={GroupPicker} />;
}

/** Filters items by the group that owns them; links add those of its subgroups and members. */
export const OwningGroupFilter = ({ state: { filters, set } }: { state: FilterState }) => (
  <GroupFilter
    label="Owning group"
    value={filters.owner_group_id}
    onChange={(owner_group_id) => set({ owner_group_id, ...(!owner_group_id && { transitive: null }) })}
  />
);

const valuePickers = { department: DepartmentPicker, skill: SkillPicker, location: LocationPicker };

type ValueProps = Props & { field: 'department' | 'skill' | 'location' };

/** Filters people by a text that some of them have, found by a search. */
export function ValueFilter({ field, ...props }: ValueProps) {
  return <PickerFilter {...props} name={props.value ?? ''} Picker={valuePickers[field]} />;
}

type PickerProps = Props & {
  /** The name of the selected item. */
  name: string;
  Picker: typeof GroupPicker;
};

/** A filter whose value is found by a search of the service. */
function PickerFilter({ label, value, onChange, name, Picker }: PickerProps) {
  const canRead = useHasScope()('personnel.read');
  const [isOpen, setOpen] = useState(false);
  const isSet = value !== undefined;
  if (!canRead && !isSet) return null;
  const select = (next: string | null) => {
    setOpen(false);
    onChange(next);
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className={isSet ? 'filter set' : 'filter'}>
        {label}
        {isSet && <bdi className="filter-value">{name}</bdi>}
        <Icon name="down" />
      </AriaButton>
      {isSet && (
        <PrintedFilter>
          {label}: {name}
        </PrintedFilter>
      )}
      <Popover className="popover filter-picker filter-options" placement="bottom start" aria-label={label}>
        <Picker
          label={label}
          autoFocus
          // With a selection, an open list would cover the button that clears it.
          menuTrigger={isSet ? 'input' : 'focus'}
          value=""
          name=""
          onChange={(id) => id && select(id)}
        />
        {isSet && (
          <Button small plain onPress={() => select(null)}>
            Clear
          </Button>
        )}
      </Popover>
    </DialogTrigger>
  );
}
