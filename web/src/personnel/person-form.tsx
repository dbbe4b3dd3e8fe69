import { useLocation } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Person, PersonInput, PersonPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';
import { withWords } from '../format.ts';
import { personKinds } from './queries.ts';

type Names = { manager: string | null; accountable: string | null };

const fieldsOf = ({ manager, accountable }: Names = { manager: null, accountable: null }): Field[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'email', label: 'E-mail', kind: 'line', half: true },
  { name: 'phone', label: 'Phone', kind: 'line', half: true },
  { name: 'title', label: 'Title', kind: 'line', half: true },
  { name: 'department', label: 'Department', kind: 'line', half: true },
  { name: 'location', label: 'Location', kind: 'line', half: true },
  { name: 'time_zone', label: 'Time zone', kind: 'line', half: true, hint: 'Such as Europe/London.' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'choice',
    required: true,
    half: true,
    options: withWords(personKinds),
  },
  {
    name: 'accountable_user_id',
    label: 'Who answers for it',
    kind: 'person',
    half: true,
    shown: accountable,
    hint: 'Of an agent: the human who does.',
  },
  { name: 'manager_user_id', label: 'Manager', kind: 'person', half: true, shown: manager },
  { name: 'external_id', label: 'Your id', kind: 'line', half: true },
  { name: 'start_on', label: 'First day', kind: 'day', half: true },
  { name: 'end_on', label: 'Last day', kind: 'day', half: true },
  { name: 'skills', label: 'Skills', kind: 'list', hint: 'Separated by commas.' },
];

export function NewPerson({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (values: Values) => {
    const person = await answerOf(api.POST('/v1/personnel', { body: values as PersonInput }));
    await refresh();
    toast(`${person.name} is on the roster.`);
    navigate(`/personnel/${person.user_id}`);
  };
  return (
    <Dialog title="Add a person" wide onClose={onClose}>
      <Form fields={fieldsOf()} action="Add person" submit={create} onClose={onClose} />
    </Dialog>
  );
}

export function EditPerson({
  person,
  names,
  onClose,
}: {
  person: Person;
  names: Names;
  onClose: () => void;
}) {
  const refresh = useRefresh();
  const save = async (values: Values) => {
    await answerOf(
      api.PATCH('/v1/personnel/{user_id}', {
        params: { path: { user_id: person.user_id } },
        body: values as PersonPatch,
        ...ifMatch(person),
      }),
    );
    await refresh();
    toast(`${person.name} is saved.`);
  };
  return (
    <Dialog title={`Edit ${person.name}`} wide onClose={onClose}>
      <Form fields={fieldsOf(names)} initial={person} action="Save" submit={save} onClose={onClose} />
    </Dialog>
  );
}
