import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import { useHasScope } from '../api/session.ts';
import { FilterPicker } from '../components/filter-picker.tsx';
import { AnyonePicker, GroupPicker } from '../components/picker.tsx';
import { usePerson } from './queries.ts';

type Props = { label: string; value: string | undefined; onChange: (value: string | null) => void };

/** With a selection, an open list would cover the button that clears it. */
const menuTriggerOf = (value: string | undefined) => (value === undefined ? 'focus' : 'input');

/** Filters a list by a person. */
export function PersonFilter({ label, value, onChange }: Props) {
  const canRead = useHasScope()('personnel.read');
  const { data } = usePerson(canRead ? (value ?? null) : null);
  if (!canRead && value === undefined) return null;
  return (
    <FilterPicker
      label={label}
      selected={value === undefined ? undefined : (data?.name ?? 'Selected person')}
      onChange={onChange}
      picker={(onSelect) => (
        <AnyonePicker
          label={label}
          autoFocus
          menuTrigger={menuTriggerOf(value)}
          value=""
          name=""
          onChange={onSelect}
        />
      )}
    />
  );
}

/** Filters a list by a group. */
export function GroupFilter({ label, value, onChange }: Props) {
  const canRead = useHasScope()('personnel.read');
  const { data } = useQuery({
    queryKey: ['group', value],
    enabled: canRead && value !== undefined,
    queryFn: () => dataOrThrow(api.GET('/v1/groups/{id}', { params: { path: { id: value ?? '' } } })),
  });
  if (!canRead && value === undefined) return null;
  return (
    <FilterPicker
      label={label}
      selected={value === undefined ? undefined : (data?.name ?? 'Selected group')}
      onChange={onChange}
      picker={(onSelect) => (
        <GroupPicker
          label={label}
          autoFocus
          menuTrigger={menuTriggerOf(value)}
          value=""
          name=""
          onChange={onSelect}
        />
      )}
    />
  );
}
