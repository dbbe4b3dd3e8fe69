import { useState } from 'react';
import { DialogTrigger, Popover } from 'react-aria-components';
import { Link } from 'wouter';
import type { Person } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { ActionButton, useAction } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { GroupPicker } from '../components/picker.tsx';
import { useMembership } from '../groups/membership.ts';

/** The groups that a person is a member of. */
export function Groups({ person }: { person: Person }) {
  const canEdit = useHasScope()('personnel.manage');
  const { remove } = useMembership();
  return (
    <Card id="groups" title="Groups">
      <div className="button-row">
        {person.groups.length === 0 ? (
          <span className="quiet">Not in any groups.</span>
        ) : (
          <ul className="button-row">
            {person.groups.map((group) => (
              <li key={group.id}>
                <Link className="chip" href={`/groups/${group.id}`}>
                  <bdi>{group.name}</bdi>
                </Link>
                {canEdit && (
                  <ActionButton
                    plain
                    small
                    icon="close"
                    aria-label={`Remove from ${group.name}`}
                    act={() => remove(person, group)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
        {canEdit && <AddToGroup person={person} />}
      </div>
    </Card>
  );
}

function AddToGroup({ person }: { person: Person }) {
  const [isOpen, setOpen] = useState(false);
  const { isBusy, run } = useAction();
  const { add } = useMembership();
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button small aria-label="Add to group" isPending={isBusy}>
        Add
      </Button>
      <Popover className="popover filter-picker" placement="bottom start" aria-label="Add to group">
        <GroupPicker
          label="Group"
          autoFocus
          excluded={person.groups.map(({ id }) => id)}
          value=""
          name=""
          onChange={(id, name) => {
            setOpen(false);
            void run(() => add(person, { id, name }));
          }}
        />
      </Popover>
    </DialogTrigger>
  );
}
