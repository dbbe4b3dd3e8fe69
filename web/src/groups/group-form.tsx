import { useLocation } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Group, GroupInput, GroupPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { toast } from '../components/toast.tsx';

const fieldsOf = (parent: string | null, lead: string | null): Field[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'parent_id', label: 'Part of', kind: 'group', half: true, shown: parent },
  { name: 'lead_user_id', label: 'Lead', kind: 'person', half: true, shown: lead },
  { name: 'external_id', label: 'Your id', kind: 'line' },
];

export function NewGroup({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (values: Values) => {
    const group = await answerOf(api.POST('/v1/groups', { body: values as GroupInput }));
    await refresh();
    toast(`${group.name} is made.`);
    navigate(`/groups/${group.id}`);
  };
  return (
    <Dialog title="New group" onClose={onClose}>
      <Form fields={fieldsOf(null, null)} action="Create group" submit={create} onClose={onClose} />
    </Dialog>
  );
}

type EditProps = { group: Group; parent: string | null; lead: string | null; onClose: () => void };

export function EditGroup({ group, parent, lead, onClose }: EditProps) {
  const refresh = useRefresh();
  const save = async (values: Values) => {
    await answerOf(
      api.PATCH('/v1/groups/{id}', {
        params: { path: { id: group.id } },
        body: values as GroupPatch,
        ...ifMatch(group),
      }),
    );
    await refresh();
    toast(`${group.name} is saved.`);
  };
  return (
    <Dialog title={`Edit ${group.name}`} onClose={onClose}>
      <Form fields={fieldsOf(parent, lead)} initial={group} action="Save" submit={save} onClose={onClose} />
    </Dialog>
  );
}
