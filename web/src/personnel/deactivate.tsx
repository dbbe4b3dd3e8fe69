import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { DeactivateInput, Handover, Person } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Theirs } from '../components/conflict.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Loaded } from '../components/loading.tsx';
import { GroupPicker, PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { formatNumber, humanize, pluralize } from '../format.ts';
import { type Part, Parts, responsibilityKinds, toInput } from './handover-parts.tsx';
import { useUndoHandover } from './handovers.tsx';

/**
 * Deactivates a person and hands their work over, if the key may change projects. A dry run shows what would be
 * reassigned.
 */
export function Deactivate({ person: live, onClose }: { person: Person; onClose: () => void }) {
  const { item: person, former } = useOpened(live);
  const [successors, setSuccessors] = useState<DeactivateInput>({});
  const [parts, setParts] = useState<readonly Part[]>([]);
  const handover = { ...successors, ...(parts.length > 0 && { parts: parts.map(toInput) }) };
  const undoHandover = useUndoHandover();
  const refresh = useRefresh();
  const hasScope = useHasScope();
  const dryRun = useQuery({
    queryKey: ['deactivate', person.user_id, handover],
    queryFn: () => deactivate(person, { ...handover, dry_run: true }),
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  const confirm = async () => {
    const { handover_id, moves, person: deactivated } = await deactivate(person, handover);
    await refresh();
    const moved = Object.values(moves).reduce((sum, count) => sum + count, 0);
    const undo = async () => {
      if (handover_id) return undoHandover(person, handover_id);
      const params = { path: { user_id: person.user_id } };
      await dataOrThrow(
        api.POST('/v1/personnel/{user_id}/reactivate', { params, body: {}, ...ifMatch(deactivated) }),
      );
      return refresh();
    };
    toast(
      moved > 0
        ? `Deactivated ${person.name} and handed over ${pluralize(moved, 'item')}`
        : `Deactivated ${person.name}`,
      undo,
    );
  };
  return (
    <Confirm
      title={`Deactivate ${person.name}`}
      action="Deactivate"
      danger
      wide={parts.length > 0}
      isDisabled={!dryRun.isSuccess || dryRun.isPlaceholderData}
      act={confirm}
      onClose={onClose}
    >
      <Theirs item={person} former={former} />
      {hasScope('projects.manage') ? (
        <>
          <Successors
            of={person}
            onChange={(change) => setSuccessors((current) => ({ ...current, ...change }))}
          />
          <Parts of={person} preview={dryRun.data} parts={parts} onChange={setParts} />
        </>
      ) : (
        <p className="notice">
          Handing over work changes projects. To do that, use a key with the scope{' '}
          <code>projects.manage</code>. You can deactivate {person.name} without handing over.
        </p>
      )}
      <Loaded query={dryRun}>{(preview) => <Preview preview={preview} name={person.name} />}</Loaded>
    </Confirm>
  );
}

type SuccessorsProps = { of: Person; onChange: (change: DeactivateInput) => void };

function Successors({ of, onChange }: SuccessorsProps) {
  return (
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
          excluded={[of.user_id]}
          onChange={(id) => onChange({ handover_to_user_id: id || null })}
        />
      </div>
      <div className="field half">
        <label htmlFor="handover-group">Reassign risks and issues to group</label>
        <GroupPicker
          id="handover-group"
          label="Reassign risks and issues to group"
          value=""
          name=""
          onChange={(id) => onChange({ handover_to_group_id: id || null })}
        />
      </div>
    </div>
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

/** How much work of each kind the person has, and how much of it would be reassigned. */
function Preview({ preview, name }: { preview: Handover; name: string }) {
  const { by_project } = preview;
  const present = responsibilityKinds.flatMap((kind) => {
    const [assigned = 0, reassigned = 0] = [preview.carries[kind], preview.moves[kind]];
    return assigned > 0 ? [{ kind, assigned, reassigned }] : [];
  });
  // A key that may not read projects gets no counts of work in projects.
  if (present.length === 0) return by_project ? <p>No work to hand over</p> : <UncountedWork />;
  const hasRemainder = present.some(({ assigned, reassigned }) => reassigned < assigned);
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
          {present.map(({ kind, assigned, reassigned }) => (
            <tr key={kind}>
              <th scope="row">{humanize(kind)}</th>
              <td className="end">{formatNumber(assigned)}</td>
              <td className="end">{formatNumber(reassigned)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!by_project && <UncountedWork />}
      {by_project && by_project.length > 0 && (
        <p className="quiet">Projects: {by_project.map(({ project_key }) => project_key).join(', ')}</p>
      )}
      {hasRemainder && (
        <p className="notice">Anything not reassigned stays with {name}, flagged “Owner inactive”.</p>
      )}
    </>
  );
}

const UncountedWork = () => (
  <p className="quiet">Work in projects isn't shown, because your key can't read projects.</p>
);
