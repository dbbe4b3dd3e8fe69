import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { DeactivateInput, Handover, Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Confirm } from '../components/dialog.tsx';
import { Loaded } from '../components/loading.tsx';
import { GroupPicker, PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';
import { formatNumber, humanize } from '../format.ts';

/** Deactivates a person and hands their work over. A dry run shows what would be reassigned. */
export function Deactivate({ person, onClose }: { person: Person; onClose: () => void }) {
  const [handover, setHandover] = useState<DeactivateInput>({});
  const refresh = useRefresh();
  const dryRun = useQuery({
    queryKey: ['deactivate', person.user_id, handover],
    queryFn: () => deactivate(person, { ...handover, dry_run: true }),
    gcTime: 0,
  });
  const confirm = async () => {
    await deactivate(person, handover);
    await refresh();
    toast(`Deactivated ${person.name}`);
  };
  return (
    <Confirm
      title={`Deactivate ${person.name}`}
      action="Deactivate"
      danger
      isDisabled={!dryRun.isSuccess}
      act={confirm}
      onClose={onClose}
    >
      <div className="fields">
        <div className="field half">
          <label htmlFor="handover-person">Hand over to</label>
          <PersonPicker
            id="handover-person"
            label="Hand over to"
            autoFocus
            // An open list would cover the rest of the dialog.
            menuTrigger="input"
            value=""
            name=""
            onChange={(id) => setHandover((current) => ({ ...current, handover_to_user_id: id || null }))}
          />
        </div>
        <div className="field half">
          <label htmlFor="handover-group">Reassign risks and issues to group</label>
          <GroupPicker
            id="handover-group"
            label="Reassign risks and issues to group"
            value=""
            name=""
            onChange={(id) => setHandover((current) => ({ ...current, handover_to_group_id: id || null }))}
          />
        </div>
      </div>
      <Loaded query={dryRun}>{(preview) => <Preview preview={preview} name={person.name} />}</Loaded>
    </Confirm>
  );
}

const deactivate = (person: Person, body: DeactivateInput) =>
  dataOrThrow(
    api.POST('/v1/personnel/{user_id}/deactivate', {
      params: { path: { user_id: person.user_id } },
      body,
      // The preview shows the latest state.
      ...(!body.dry_run && ifMatch(person)),
    }),
  );

const kinds = ['risks', 'issues', 'tasks', 'projects', 'groups', 'reports', 'agents', 'memberships'] as const;

/** How much work of each kind the person has, and how much of it would be reassigned. */
function Preview({ preview, name }: { preview: Handover; name: string }) {
  const { carries: assigned, moves: reassigned, by_project } = preview;
  const present = kinds.filter((kind) => assigned[kind] > 0);
  if (present.length === 0) return <p>No work to hand over</p>;
  const hasRemainder = present.some((kind) => reassigned[kind] < assigned[kind]);
  return (
    <>
      <table className="table preview">
        <thead>
          <tr>
            <th scope="col">Assigned work</th>
            <th scope="col" className="end">
              Now
            </th>
            <th scope="col" className="end">
              Reassigned
            </th>
          </tr>
        </thead>
        <tbody>
          {present.map((kind) => (
            <tr key={kind}>
              <th scope="row">{humanize(kind)}</th>
              <td className="end">{formatNumber(assigned[kind])}</td>
              <td className="end">{formatNumber(reassigned[kind])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {by_project.length > 0 && (
        <p className="quiet">Projects: {by_project.map(({ project_key }) => project_key).join(', ')}</p>
      )}
      {hasRemainder && (
        <p className="notice">Anything not reassigned stays with {name}, flagged “Owner inactive”.</p>
      )}
    </>
  );
}
