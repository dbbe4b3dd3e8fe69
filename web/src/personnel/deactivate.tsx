import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { DeactivateInput, Handover, Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Confirm } from '../components/dialog.tsx';
import { Loaded } from '../components/loading.tsx';
import { GroupPicker, PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';
import { number, words } from '../format.ts';

/** Who leaves hands over what they carry: what would move is shown before it does. */
export function Deactivate({ person, onClose }: { person: Person; onClose: () => void }) {
  const [heirs, setHeirs] = useState<DeactivateInput>({});
  const refresh = useRefresh();
  const dryRun = useQuery({
    queryKey: ['deactivate', person.user_id, heirs],
    queryFn: () => deactivate(person, { ...heirs, dry_run: true }),
    gcTime: 0,
  });
  const act = async () => {
    await deactivate(person, heirs);
    await refresh();
    toast(`${person.name} is deactivated.`);
  };
  return (
    <Confirm
      title={`Deactivate ${person.name}`}
      action="Deactivate"
      danger
      isBlocked={!dryRun.isSuccess}
      act={act}
      onClose={onClose}
    >
      <div className="fields">
        <div className="field half">
          <label htmlFor="heir">Hand over to</label>
          <PersonPicker
            id="heir"
            label="Hand over to"
            value=""
            name=""
            onChange={(id) => setHeirs((now) => ({ ...now, handover_to_user_id: id || null }))}
          />
        </div>
        <div className="field half">
          <label htmlFor="heirs">Risks and issues to a group</label>
          <GroupPicker
            id="heirs"
            label="Risks and issues to a group"
            value=""
            name=""
            onChange={(id) => setHeirs((now) => ({ ...now, handover_to_group_id: id || null }))}
          />
        </div>
      </div>
      <Loaded query={dryRun}>{(handover) => <Preview handover={handover} />}</Loaded>
    </Confirm>
  );
}

const deactivate = (person: Person, body: DeactivateInput) =>
  answerOf(
    api.POST('/v1/personnel/{user_id}/deactivate', {
      params: { path: { user_id: person.user_id } },
      body,
      ...ifMatch(person),
    }),
  );

const kinds = ['risks', 'issues', 'tasks', 'projects', 'groups', 'reports', 'agents', 'memberships'] as const;

/** What they carry, kind by kind, and how much of it moves. */
function Preview({ handover: { carries, moves, by_project } }: { handover: Handover }) {
  const held = kinds.filter((kind) => carries[kind] > 0);
  if (held.length === 0) return <p>They carry nothing: there is nothing to hand over.</p>;
  const isLeft = held.some((kind) => moves[kind] < carries[kind]);
  return (
    <>
      <table className="table preview">
        <thead>
          <tr>
            <th scope="col">What they carry</th>
            <th scope="col" className="end">
              Now
            </th>
            <th scope="col" className="end">
              Moves
            </th>
          </tr>
        </thead>
        <tbody>
          {held.map((kind) => (
            <tr key={kind}>
              <th scope="row">{words(kind)}</th>
              <td className="end">{number(carries[kind])}</td>
              <td className="end">{number(moves[kind])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {by_project.length > 0 && (
        <p className="quiet">In {by_project.map(({ project_key }) => project_key).join(', ')}.</p>
      )}
      {isLeft && (
        <p className="notice">What does not move stays with them, marked as carried by nobody active.</p>
      )}
    </>
  );
}
