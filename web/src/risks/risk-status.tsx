import { usePatchItem } from '../api/items.ts';
import type { Risk, RiskPatch } from '../api/openapi.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { Status } from '../components/badges.tsx';
import { Facts } from '../components/card.tsx';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { StatusCard } from '../components/status-card.tsx';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { PersonLink } from '../personnel/person-link.tsx';
import { AcceptedByYou } from './accepted-by-you.tsx';
import { riskStatusLabel, wordsOf } from './kinds.ts';
import { Materialize } from './materialize.tsx';
import { type RiskStatus, useTransitions } from './model.ts';
import { transitionForms } from './transition-forms.ts';

export function RiskStatusCard({ editor }: { editor: Editor<RiskPatch, Risk> }) {
  const risk = editor.item;
  const fact = useInlineFacts(editor);
  const changeStatus = useChangeStatus(risk);
  const transitions = useTransitions<RiskStatus>('risks')(risk.status);
  const acceptedBy = useHasScope()('personnel.read') && risk.accepted_by_user_id;
  return (
    <StatusCard
      status={risk.status}
      badge={<Status status={risk.status} kind={risk.kind} />}
      transitions={editor.canEdit ? transitions : []}
      labelOf={(to) => labelOf(risk, to)}
      needsInput={(to) => ['accepted', 'materialized', 'closed'].includes(to) || risk.status === 'closed'}
      changeStatus={(status) => changeStatus({ status })}
      dialog={(to, onClose) =>
        to === 'materialized' ? (
          <Materialize risk={risk} onClose={onClose} />
        ) : (
          <TransitionDialog
            risk={risk}
            to={to}
            onClose={onClose}
            submit={(values) => changeStatus({ ...values, status: to })}
          />
        )
      }
    >
      <Facts
        facts={[
          ...(risk.status === 'accepted'
            ? [
                fact('accepted_until', undefined, 'Accepted until'),
                ['Accepted by', acceptedBy && <PersonLink key="accepted" user_id={acceptedBy} />] as const,
                fact('acceptance_reason', undefined, 'Acceptance reason'),
              ]
            : []),
          ...(risk.status === 'closed'
            ? [fact('closure_reason', undefined, 'Closure reason'), fact('lessons')]
            : []),
        ]}
      />
    </StatusCard>
  );
}

const labels: Record<RiskStatus, string> = {
  open: 'Reopen',
  mitigating: 'Move to Mitigating',
  monitoring: 'Move to Monitoring',
  accepted: 'Accept…',
  materialized: 'Mark as occurred…',
  closed: 'Close…',
};

/** A risk that is worked on has never left the register, so it is not reopened. */
const labelOf = ({ status, kind }: Risk, to: RiskStatus) => {
  if (to === 'open' && (status === 'mitigating' || status === 'monitoring')) return 'Move to Open';
  return to === 'materialized' && kind === 'opportunity' ? 'Mark as realized…' : labels[to];
};

function useChangeStatus(risk: Risk) {
  const patch = usePatchItem('risks');
  const transitionsFrom = useTransitions<RiskStatus>('risks');
  return async (body: RiskPatch) => {
    const next = await patch(risk, body);
    // Leaving an acceptance or a closure clears its fields, so only a change between the other statuses can be undone.
    const canUndo =
      ['open', 'mitigating', 'monitoring'].includes(risk.status) &&
      next.status !== 'closed' &&
      transitionsFrom(next.status).includes(risk.status);
    toast(
      `Moved ${risk.key} to ${riskStatusLabel(next.status, risk.kind)}`,
      canUndo ? () => patch(next, { status: risk.status }) : undefined,
    );
  };
}

type TransitionProps = {
  risk: Risk;
  to: RiskStatus;
  onClose: () => void;
  submit: (values: RiskPatch) => Promise<unknown>;
};

function TransitionDialog({ risk: live, to, onClose, submit: submitLive }: TransitionProps) {
  const { item: risk, former } = useOpened(live);
  const { item: submit } = useOpened(submitLive);
  const isPerson = useMe().user_id !== null;
  const { title, fields } = transitionForms[to === 'accepted' || to === 'closed' ? to : 'open']({ isPerson });
  return (
    <Dialog title={`${title} ${risk.key}`} onClose={onClose}>
      <Form fields={fields} action={`${title} ${wordsOf(risk.kind).noun}`} submit={submit} onClose={onClose}>
        <Theirs item={risk} former={former} />
        {to === 'accepted' && <AcceptedByYou />}
      </Form>
    </Dialog>
  );
}
