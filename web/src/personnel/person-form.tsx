import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import {
  type Person,
  type PersonInput,
  type PersonPatch,
  personKindValues,
  personStatusValues,
} from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { choiceField, type FieldOf, referenceField } from '../components/form-values.ts';
import { CreateDialog } from '../fields/create-dialog.tsx';
import type { Editor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { usePerson } from './queries.ts';

type Names = { manager?: string | undefined; accountable?: string | undefined };

const fieldsOf = (names: Names = {}): FieldOf<PersonInput>[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'email', label: 'Email', kind: 'line', half: true },
  { name: 'phone', label: 'Phone', kind: 'line', half: true },
  { name: 'title', label: 'Title', kind: 'line', half: true },
  { name: 'department', label: 'Department', kind: 'line', half: true },
  { name: 'location', label: 'Location', kind: 'line', half: true },
  { name: 'time_zone', label: 'Time zone', kind: 'line', half: true, hint: 'For example, Europe/London' },
  choiceField('kind', 'Kind', enumOptions(personKindValues), { required: true, half: true }),
  referenceField('accountable_user_id', 'Accountable person', 'person', names.accountable, {
    half: true,
    given: ({ kind, accountable_user_id }) =>
      kind === 'agent' ? { required: true } : accountable_user_id ? {} : null,
  }),
  referenceField('manager_user_id', 'Manager', 'person', names.manager, { half: true }),
  { name: 'external_id', label: 'External ID', kind: 'line', half: true },
  { name: 'start_on', label: 'First day', kind: 'day', half: true },
  { name: 'end_on', label: 'Last day', kind: 'day', half: true },
  {
    name: 'skills',
    label: 'Skills',
    kind: 'list',
    hint: 'Separate with commas. Quote one that has a comma.',
  },
];

export const NewPerson = ({ onClose }: { onClose: () => void }) => (
  <CreateDialog<PersonInput, Person>
    action="Add person"
    wide
    fields={fieldsOf()}
    create={(body) => api.POST('/v1/personnel', { body })}
    done={({ name, user_id }) => ({ message: `Added ${name}`, path: `/personnel/${user_id}` })}
    onClose={onClose}
  />
);

/** Setting it reassigns no work; "Deactivate" does. */
const statusField = choiceField('status', 'Status', enumOptions(personStatusValues), {
  required: true,
  isOnPageOnly: true,
});

export function usePersonEditor(person: Person): Editor<PersonPatch, Person> {
  const write = useWrite();
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const params = { path: { user_id: person.user_id } };
  return {
    id: person.user_id,
    name: person.name,
    list: '/personnel',
    isWide: true,
    item: person,
    fields: [...fieldsOf({ manager: manager.data?.name, accountable: accountable.data?.name }), statusField],
    canEdit: useHasScope()('personnel.manage'),
    save: (body, base) => write(api.PATCH('/v1/personnel/{user_id}', { params, body, ...ifMatch(base) })),
    reload: () => dataOrThrow(api.GET('/v1/personnel/{user_id}', { params })),
    remove: () => dataOrThrow(api.DELETE('/v1/personnel/{user_id}', { params, ...ifMatch(person) })),
  };
}
