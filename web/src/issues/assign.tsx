import { useState } from 'react';
import { Dialog, DialogTrigger, Popover } from 'react-aria-components';
import type { Issue } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Person } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { PersonPicker } from '../components/picker.tsx';
import { toast } from '../components/toast.tsx';
import { usePatchIssue } from './queries.ts';

/** Who works on an issue; with the right scopes, a click changes it. */
export function Assignee({ issue }: { issue: Issue }) {
  const may = useMay();
  const name = issue.assignee_name;
  if (!may('projects.manage') || !may('personnel.read')) {
    return name ? <Person name={name} /> : <span className="quiet">Nobody</span>;
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
      const who = next.assignee_name ? `goes to ${next.assignee_name}` : 'is assigned to nobody';
      toast(`${issue.key} ${who}.`, () => patch(next, { assignee_user_id: issue.assignee_user_id }));
    } catch (error) {
      toast((error as Error).message);
    }
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button small plain aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`}>
        {issue.assignee_name ? <Person name={issue.assignee_name} /> : 'Assign…'}
      </Button>
      <Popover className="popover assign" placement="bottom start">
        <Dialog aria-label={`${issue.assignee_name ?? 'Assign…'}, ${issue.key}`} className="choices">
          <PersonPicker label="Assign to" autoFocus value="" name="" onChange={(id) => id && assign(id)} />
          {issue.assignee_user_id && (
            <Button small plain onPress={() => assign(null)}>
              Assign to nobody
            </Button>
          )}
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
