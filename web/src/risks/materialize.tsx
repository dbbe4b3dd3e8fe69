import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, ifMatch } from '../api/client.ts';
import { itemParams } from '../api/items.ts';
import {
  issuePriorityValues,
  issueSeverityValues,
  type MaterializeInput,
  type Risk,
} from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { choiceField, type FieldOf, referenceField } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { enumOptions, pluralize, today } from '../format.ts';
import { isDone, useTasksOf } from '../tasks/tasks.tsx';
import { wordsOf } from './kinds.ts';

const fieldsOf = ({ owner_name }: Risk): FieldOf<MaterializeInput>[] => [
  {
    name: 'reason',
    label: 'What happened',
    kind: 'text',
    hint: 'In the history, and above the description of the issue.',
  },
  { name: 'title', label: 'Issue title', kind: 'line', required: true },
  { name: 'description', label: 'Description', kind: 'text' },
  choiceField('severity', 'Severity', enumOptions(issueSeverityValues), {
    half: true,
    hint: "Leave blank to derive it from the risk's impact.",
  }),
  choiceField('priority', 'Priority', enumOptions(issuePriorityValues), { half: true }),
  referenceField('assignee_user_id', 'Assignee', 'person', owner_name, { half: true }),
  { name: 'due_on', label: 'Due', kind: 'day', half: true },
];

/** Creates the issue of a risk that has occurred, or of an opportunity that was realized. Its fields are the risk's. */
export function Materialize({ risk: live, onClose }: { risk: Risk; onClose: () => void }) {
  const { item: risk, former } = useOpened(live);
  const write = useWrite();
  const [, navigate] = useLocation();
  const canReadPeople = useHasScope()('personnel.read');
  const [proposed] = useState(() => proposedFor(risk, canReadPeople));
  const { data: tasks } = useTasksOf(risk.project_key, { risk_id: risk.id });
  // A task of another issue stays with it.
  const openCount = (tasks?.data ?? []).filter((task) => !isDone(task) && task.issue_id === null).length;
  const [movesTasks, setMovesTasks] = useState(true);
  const { noun, materialized } = wordsOf(risk.kind);
  const createIssue = async (changed: MaterializeInput) => {
    const { reason, description, ...fields } = { ...proposed, ...changed };
    const { issue, moved_tasks = 0 } = await write(
      api.POST('/v1/projects/{project_id}/risks/{id}/materialize', {
        params: itemParams(risk),
        body: {
          ...fields,
          ...(reason && { reason }),
          description: [reason, description].filter(Boolean).join('\n\n') || null,
          ...(openCount > 0 && { move_tasks: movesTasks }),
        },
        ...ifMatch(risk),
      }),
    );
    const moved = moved_tasks > 0 ? ` and moved ${pluralize(moved_tasks, 'task')} to it` : '';
    toast(`Created ${issue.key} from ${risk.key}${moved}`);
    navigate(`/issues/${issue.key}`);
  };
  return (
    <Dialog title={`Mark ${risk.key} as ${materialized.toLowerCase()}`} onClose={onClose}>
      <Form
        fields={fieldsOf(risk)}
        initial={proposed}
        action="Create issue"
        submit={createIssue}
        onClose={onClose}
      >
        <Theirs item={risk} former={former} />
        <p className="quiet">Creates a linked issue and removes the {noun} from the active register.</p>
        {openCount > 0 && (
          <label className="move-tasks">
            <input
              type="checkbox"
              checked={movesTasks}
              onChange={({ target }) => setMovesTasks(target.checked)}
            />
            Move {pluralize(openCount, 'open task')} of the {noun} to the issue
          </label>
        )}
      </Form>
    </Dialog>
  );
}

/** What the issue takes over: the owner works on it, and a due date that has not passed still applies. */
const proposedFor = (risk: Risk, canReadPeople: boolean): MaterializeInput => ({
  title: risk.title,
  description: risk.description,
  ...(canReadPeople &&
    risk.owner_active &&
    risk.owner_user_id !== null && { assignee_user_id: risk.owner_user_id }),
  ...(risk.due_on !== null && risk.due_on >= today() && { due_on: risk.due_on }),
});
