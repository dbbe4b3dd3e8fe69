import { useLocation } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import { type Person, type PersonInput, type PersonPatch, personKindValues } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import type { Editor } from '../fields/editor.ts';
import { enumOptions } from '../format.ts';
import { usePerson } from './queries.ts';

type Names = { manager: string | null; accountable: string | null };

const fieldsOf = (names?: Names): FieldOf<PersonInput>[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'email', label: 'Email', kind: 'line', half: true },
  { name: 'phone', label: 'Phone', kind: 'line', half: true },
  { name: 'title', label: 'Title', kind: 'line', half: true },
  { name: 'department', label: 'Department', kind: 'line', half: true },
  { name: 'location', label: 'Location', kind: 'line', half: true },
  { name: 'time_zone', label: 'Time zone', kind: 'line', half: true, hint: 'For example, Europe/London' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    required: true,
    half: true,
    options: enumOptions(personKindValues),
  },
  {
    name: 'accountable_user_id',
    label: 'Accountable person',
    kind: 'person',
    half: true,
    selectedName: names?.accountable ?? null,
    hint: 'Agents only',
  },
  {
    name: 'manager_user_id',
    label: 'Manager',
    kind: 'person',
    half: true,
    selectedName: names?.manager ?? null,
  },
  { name: 'external_id', label: 'External ID', kind: 'line', half: true },
  { name: 'start_on', label: 'First day', kind: 'day', half: true },
  { name: 'end_on', label: 'Last day', kind: 'day', half: true },
  { name: 'skills', label: 'Skills', kind: 'list', hint: 'Separate with commas' },
];

export function NewPerson({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (body: PersonInput) => {
    const person = await dataOrThrow(api.POST('/v1/personnel', { body }));
    await refresh();
    toast(`Added ${person.name}`);
    navigate(`/personnel/${person.user_id}`);
  };
  return (
    <Dialog title="Add person" wide onClose={onClose}>
      <Form fields={fieldsOf()} action="Add person" submit={create} onClose={onClose} />
    </Dialog>
  );
}

/** Setting it reassigns no work; "Deactivate" does. */
const statusField: FieldOf<PersonPatch> = {
  name: 'status',
  label: 'Status',
  kind: 'choice',
  required: true,
  options: enumOptions(['active', 'inactive']),
  isOnPageOnly: true,
};

export function usePersonEditor(person: Person): Editor<PersonPatch, Person> {
  const refresh = useRefresh();
  const manager = usePerson(person.manager_user_id);
  const accountable = usePerson(person.accountable_user_id);
  const params = { path: { user_id: person.user_id } };
  return {
    id: person.user_id,
    name: person.name,
    item: person,
    fields: [
      ...fieldsOf({ manager: manager.data?.name ?? null, accountable: accountable.data?.name ?? null }),
      statusField,
    ],
    canEdit: useHasScope()('personnel.manage'),
    save: async (body, base) => {
      const next = await dataOrThrow(
        api.PATCH('/v1/personnel/{user_id}', { params, body, ...ifMatch(base) }),
      );
      await refresh();
      return next;
    },
    reload: () => dataOrThrow(api.GET('/v1/personnel/{user_id}', { params })),
  };
}
