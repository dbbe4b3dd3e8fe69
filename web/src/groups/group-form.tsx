import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Group, GroupInput, GroupPatch } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { FieldOf } from '../components/form-values.ts';
import { CreateDialog } from '../fields/create-dialog.tsx';
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

export const NewGroup = ({ onClose }: { onClose: () => void }) => (
  <CreateDialog<GroupInput, Group>
    action="Create group"
    fields={fieldsOf(null, null)}
    create={(body) => api.POST('/v1/groups', { body })}
    done={({ name, id }) => ({ message: `Created ${name}`, path: `/groups/${id}` })}
    onClose={onClose}
  />
);

export function useGroupEditor(group: Group): Editor<GroupPatch, Group> {
  const write = useWrite();
  const { data: groups = [] } = useGroups();
  const lead = usePerson(group.lead_user_id);
  const parent = groups.find(({ id }) => id === group.parent_id)?.name ?? null;
  const params = { path: { id: group.id } };
  return {
    id: group.id,
    name: group.name,
    list: '/groups',
    item: group,
    fields: fieldsOf(parent, lead.data?.name ?? null),
    canEdit: useHasScope()('personnel.manage'),
    save: (body, base) => write(api.PATCH('/v1/groups/{id}', { params, body, ...ifMatch(base) })),
    reload: () => dataOrThrow(api.GET('/v1/groups/{id}', { params })),
    remove: () => dataOrThrow(api.DELETE('/v1/groups/{id}', { params, ...ifMatch(group) })),
  };
}
