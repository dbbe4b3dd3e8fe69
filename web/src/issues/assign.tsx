import { useState } from 'react';
import { Dialog, DialogTrigger, Popover } from 'react-aria-components';
import type { Issue } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { PersonLabel } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';
import { usePatchIssue } from './queries.ts';

/** The assignee of an issue. A key with the scopes for it can change the assignee here. */
export function Assignee({ issue }: { issue: Issue }) {
  const hasScope = useHasScope();
  const name = issue.assignee_name;
  if (!hasScope('projects.manage') || !hasScope('personnel.read')) {
    return name ? <PersonLabel name={name} /> : <span className="quiet">Unassigned</span>;
  }
  return <QuickAssign issue={issue} />;
}

function QuickAssign({ issue }: { issue: Issue }) {
  const [isOpen, setOpen] = useState(false);
  const patch = usePatchIssue();
  const assign = async (user_id: string | null) => {
    setOpen(false);
    if (user_id === issue.assignee_user_id) return;
    try {
      const next = await patch(issue, { assignee_user_id: user_id });
      const message = next.assignee_name
        ? `Assigned ${issue.key} to ${next.assignee_name}`
        : `Unassigned ${issue.key}`;
      toast(message, () => patch(next, { assignee_user_id: issue.assignee_user_id }));
    } catch (error) {
      toast((error as Error).message);
    }
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button small plain aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`}>
        {issue.assignee_name ? <PersonLabel name={issue.assignee_name} /> : 'Assign…'}
      </Button>
      <Popover className="popover assign" placement="bottom start">
        <Dialog aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`} className="filter-options">
          <PersonPicker label="Assign to" autoFocus value="" name="" onChange={(id) => id && assign(id)} />
          {issue.assignee_user_id && (
            <Button small plain onPress={() => assign(null)}>
              Unassign
            </Button>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
