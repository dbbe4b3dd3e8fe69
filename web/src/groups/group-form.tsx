import { useLocation } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Group, GroupInput, GroupPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';

const fieldsOf = (parent: string | null, lead: string | null): FieldOf<GroupInput>[] => [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'parent_id', label: 'Parent group', kind: 'group', half: true, selectedName: parent },
  { name: 'lead_user_id', label: 'Lead', kind: 'person', half: true, selectedName: lead },
  { name: 'external_id', label: 'External ID', kind: 'line' },
];

export function NewGroup({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const refresh = useRefresh();
  const create = async (body: GroupInput) => {
    const group = await dataOrThrow(api.POST('/v1/groups', { body }));
    await refresh();
    toast(`Created ${group.name}`);
    navigate(`/groups/${group.id}`);
  };
  return (
    <Dialog title="Create group" onClose={onClose}>
      <Form fields={fieldsOf(null, null)} action="Create group" submit={create} onClose={onClose} />
    </Dialog>
  );
}

type EditProps = { group: Group; parent: string | null; lead: string | null; onClose: () => void };

export function EditGroup({ group, parent, lead, onClose }: EditProps) {
  const refresh = useRefresh();
  const params = { path: { id: group.id } };
  const save = async (body: GroupPatch, edited: Group) => {
    await dataOrThrow(api.PATCH('/v1/groups/{id}', { params, body, ...ifMatch(edited) }));
    await refresh();
    toast(`Saved ${group.name}`);
  };
  return (
    <Dialog title={`Edit ${group.name}`} onClose={onClose}>
      <Form
        fields={fieldsOf(parent, lead)}
        initial={group}
        action="Save"
        submit={save}
        reload={() => dataOrThrow(api.GET('/v1/groups/{id}', { params }))}
        onClose={onClose}
      />
    </Dialog>
  );
}
