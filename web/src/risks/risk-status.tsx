import { useLocation } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { MaterializeInput, Risk, RiskPatch } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { type Field, Form, type Values } from '../components/form.tsx';
import { StateCard } from '../components/state-card.tsx';
import { toast } from '../components/toast.tsx';
import { day, daysFromToday, withWords, words } from '../format.ts';
import { priorities, severities } from '../issues/model.ts';
import { type RiskStatus, riskMoves } from './model.ts';
import { riskPath, usePatchRisk } from './queries.ts';

export function RiskState({ risk }: { risk: Risk }) {
  const move = useMove(risk);
  return (
    <StateCard
      state={risk.status}
      moves={riskMoves}
      labels={labels}
      needsMore={(to) => ['accepted', 'materialized', 'closed'].includes(to) || risk.status === 'closed'}
      move={(status) => move({ status })}
      dialog={(to, onClose) =>
        to === 'materialized' ? (
          <Materialize risk={risk} onClose={onClose} />
        ) : (
          <MoveDialog
            risk={risk}
            to={to}
            onClose={onClose}
            move={(values) => move({ ...values, status: to })}
          />
        )
      }
    >
      <Facts
        facts={[
          ['Accepted until', risk.accepted_until && day(risk.accepted_until)],
          ['Acceptance', risk.acceptance_reason],
          ['Closed because', risk.closure_reason],
          ['Lessons', risk.lessons],
        ]}
      />
    </StateCard>
  );
}

const labels: Record<RiskStatus, string> = {
  open: 'Reopen',
  mitigating: 'Mitigate',
  monitoring: 'Monitor',
  accepted: 'Accept…',
  materialized: 'It has happened…',
  closed: 'Close…',
};

function useMove(risk: Risk) {
  const patch = usePatchRisk();
  return async (body: RiskPatch) => {
    const next = await patch(risk, body);
    // What belonged to an acceptance or a closure is gone; only a plain state can be gone back to.
    const isPlain = ['open', 'mitigating', 'monitoring'].includes(risk.status) && next.status !== 'closed';
    toast(
      `${risk.key} is ${words(next.status).toLowerCase()}.`,
      isPlain ? () => patch(next, { status: risk.status }) : undefined,
    );
  };
}

type MoveProps = {
  risk: Risk;
  to: RiskStatus;
  onClose: () => void;
  move: (values: Values) => Promise<unknown>;
};

function MoveDialog({ risk, to, onClose, move }: MoveProps) {
  const { title, fields, action } = asked[to === 'accepted' || to === 'closed' ? to : 'open']();
  return (
    <Dialog title={`${title} ${risk.key}`} onClose={onClose}>
      <Form fields={fields} action={action} submit={move} onClose={onClose} />
    </Dialog>
  );
}

const asked: Record<
  'accepted' | 'closed' | 'open',
  () => { title: string; action: string; fields: Field[] }
> = {
  accepted: () => ({
    title: 'Accept',
    action: 'Accept the risk',
    fields: [
      { name: 'acceptance_reason', label: 'Why it is accepted', kind: 'text', required: true },
      {
        name: 'accepted_until',
        label: 'Until',
        kind: 'day',
        required: true,
        min: daysFromToday(0),
        max: daysFromToday(365),
        hint: 'At most 365 days off. The day after, it is open again by itself.',
      },
      { name: 'accepted_by_user_id', label: 'Accepted by', kind: 'person' },
    ],
  }),
  closed: () => ({
    title: 'Close',
    action: 'Close the risk',
    fields: [
      { name: 'closure_reason', label: 'Why it is closed', kind: 'text', required: true },
      { name: 'lessons', label: 'What was learnt', kind: 'text' },
    ],
  }),
  open: () => ({
    title: 'Reopen',
    action: 'Reopen the risk',
    fields: [{ name: 'reason', label: 'Why it is open again', kind: 'text', required: true }],
  }),
};

function Materialize({ risk, onClose }: { risk: Risk; onClose: () => void }) {
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const make = async (values: Values) => {
    const { issue } = await answerOf(
      api.POST('/v1/projects/{project_id}/risks/{id}/materialize', {
        params: riskPath(risk),
        body: values as MaterializeInput,
        ...ifMatch(risk),
      }),
    );
    await refresh();
    toast(`${risk.key} has become ${issue.key}.`);
    navigate(`/issues/${issue.key}`);
  };
  return (
    <Dialog title={`${risk.key} has happened`} onClose={onClose}>
      <Form
        fields={[
          { name: 'reason', label: 'What happened', kind: 'text' },
          {
            name: 'title',
            label: 'Title of the issue',
            kind: 'line',
            hint: 'The title of the risk when left empty.',
          },
          {
            name: 'severity',
            label: 'Severity',
            kind: 'choice',
            options: withWords(severities),
            half: true,
            hint: 'From the impact when left empty.',
          },
          {
            name: 'priority',
            label: 'Priority',
            kind: 'choice',
            options: withWords(priorities),
            half: true,
          },
          { name: 'assignee_user_id', label: 'Assign to', kind: 'person', half: true },
          { name: 'due_on', label: 'Due', kind: 'day', half: true },
        ]}
        action="Make the issue"
        submit={make}
        onClose={onClose}
      >
        <p className="quiet">
          An issue is made and linked, and the risk leaves the register, all in one step.
        </p>
      </Form>
    </Dialog>
  );
}
