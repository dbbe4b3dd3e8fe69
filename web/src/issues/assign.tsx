import { useState } from 'react';
import { DialogTrigger, Popover } from 'react-aria-components';
import { usePatchItem } from '../api/items.ts';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { useAction } from '../components/action-button.tsx';
import { PersonLabel } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';

/** The assignee of an issue. A key with the scopes for it can change the assignee here. */
export function Assignee({ issue }: { issue: Issue }) {
  const hasScope = useHasScope();
  const name = issue.assignee_name;
  if (!hasScope('projects.manage') || !hasScope('personnel.read')) {
    return <AssigneeName name={name} />;
  }
  return <QuickAssign issue={issue} />;
}

export const AssigneeName = ({ name }: { name: string | null }) =>
  name ? <PersonLabel name={name} /> : <span className="quiet">Unassigned</span>;

function QuickAssign({ issue }: { issue: Issue }) {
  // As it was when the list of people opened.
  const [opened, setOpened] = useState<Issue>();
  const patch = usePatchItem('issues');
  const { isBusy, run } = useAction();
  const assign = (user_id: string | null) => {
    setOpened(undefined);
    if (!opened || user_id === opened.assignee_user_id) return;
    void run(async () => {
      const next = await patch(opened, { assignee_user_id: user_id });
      const message = next.assignee_name
        ? `Assigned ${issue.key} to ${next.assignee_name}`
        : `Unassigned ${issue.key}`;
      toast(message, () => patch(next, { assignee_user_id: opened.assignee_user_id }));
    });
  };
  return (
    <DialogTrigger
      isOpen={opened !== undefined}
      onOpenChange={(isOpen) => setOpened(isOpen ? issue : undefined)}
    >
      <Button
        className="assign-button"
        small
        plain
        isPending={isBusy}
        aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`}
      >
        {issue.assignee_name ? (
          <PersonLabel name={issue.assignee_name} />
        ) : (
          <>
            <span className="no-print">Assign…</span>
            <span className="print-only">Unassigned</span>
          </>
        )}
      </Button>
      <Popover
        className="popover filter-picker filter-options"
        placement="bottom start"
        aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`}
      >
        <PersonPicker
          label="Assign to"
          autoFocus
          // With an assignee, an open list would cover the button that unassigns.
          menuTrigger={issue.assignee_user_id ? 'input' : 'focus'}
          value=""
          name=""
          onChange={(id) => id && assign(id)}
        />
        {issue.assignee_user_id && (
          <Button small plain onPress={() => assign(null)}>
            Unassign
          </Button>
        )}
      </Popover>
    </DialogTrigger>
  );
}
