import { useLocation } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Group, GroupInput, GroupPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import type { Editor } from '../fields/editor.ts';
import { usePerson } from '../personnel/queries.ts';
import { useGroups } from './queries.ts';

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

export function useGroupEditor(group: Group): Editor<GroupPatch, Group> {
  const refresh = useRefresh();
  const { data: groups = [] } = useGroups();
  const lead = usePerson(group.lead_user_id);
  const parent = groups.find(({ id }) => id === group.parent_id)?.name ?? null;
  const params = { path: { id: group.id } };
  return {
    id: group.id,
    name: group.name,
    item: group,
    fields: fieldsOf(parent, lead.data?.name ?? null),
    canEdit: useHasScope()('personnel.manage'),
    save: async (body, base) => {
      const next = await dataOrThrow(api.PATCH('/v1/groups/{id}', { params, body, ...ifMatch(base) }));
      await refresh();
      return next;
    },
    reload: () => dataOrThrow(api.GET('/v1/groups/{id}', { params })),
  };
}
