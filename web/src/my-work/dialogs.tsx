import { usePatchItem } from '../api/items.ts';
import type { Issue, Risk, RiskPatch, Task } from '../api/openapi.ts';
import { useMe } from '../api/session.ts';
import { Theirs } from '../components/conflict.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { choiceField, type FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { daysFromToday, formatDay, today } from '../format.ts';
import type { Entry } from './entries.ts';

type RiskProps = { risk: Risk; onClose: () => void };

/** The usual times between two reviews. */
const intervals = [
  [30, 'In 30 days'],
  [90, 'In 90 days'],
  [180, 'In 180 days'],
  [365, 'In a year'],
] as const;
const usualInterval = 90;

type Review = { days?: (typeof intervals)[number][0]; reason?: string };

/** Confirms that a risk is still as described, and sets the day of its next review. */
export function StillValid({ risk: live, onClose }: RiskProps) {
  const { item: risk, former } = useOpened(live);
  const patch = usePatchItem('risks');
  const options = intervals.map(
    ([days, label]) => [days, `${label} (${formatDay(daysFromToday(days))})`] as const,
  );
  const fields: FieldOf<Review>[] = [
    choiceField('days', 'Next review', options, { required: true }),
    { name: 'reason', label: 'Reason', kind: 'text', hint: 'Shown in the history of the risk.' },
  ];
  const confirm = async ({ days = usualInterval, reason }: Review) => {
    const review_on = daysFromToday(days);
    const next = await patch(risk, { review_on, ...(reason && { reason }) });
    toast(`Reviewed ${risk.key}. Next review ${formatDay(review_on)}`, () =>
      patch(next, { review_on: risk.review_on }),
    );
  };
  return (
    <Dialog title={`Is ${risk.key} still valid?`} onClose={onClose}>
      <Form<Review>
        fields={fields}
        initial={{ days: usualInterval }}
        action="Still valid"
        submit={confirm}
        onClose={onClose}
      >
        <ItemTitle item={risk} former={former} />
      </Form>
    </Dialog>
  );
}

/** Accepts a risk for longer. */
export function ExtendAcceptance({ risk: live, onClose }: RiskProps) {
  const { item: risk, former } = useOpened(live);
  const patch = usePatchItem('risks');
  const fields: FieldOf<RiskPatch>[] = [
    {
      name: 'accepted_until',
      label: 'Accept until',
      kind: 'day',
      required: true,
      min: today(),
      max: daysFromToday(365),
      hint: 'Up to 365 days. Reopens automatically.',
    },
    { name: 'acceptance_reason', label: 'Reason', kind: 'text', required: true },
  ];
  const extend = async (values: RiskPatch) => {
    if (!values.accepted_until) throw new Error('Choose another end date.');
    await patch(risk, values);
    toast(`Accepted ${risk.key} until ${formatDay(values.accepted_until)}`);
  };
  return (
    <Dialog title={`Extend the acceptance of ${risk.key}`} onClose={onClose}>
      <Form<RiskPatch, Risk> fields={fields} initial={risk} action="Extend" submit={extend} onClose={onClose}>
        <ItemTitle item={risk} former={former} />
      </Form>
    </Dialog>
  );
}

/** Ends an acceptance before its last day. */
export function ReopenRisk({ risk: live, onClose }: RiskProps) {
  const { item: risk, former } = useOpened(live);
  const patch = usePatchItem('risks');
  const reopen = async (values: RiskPatch) => {
    await patch(risk, { ...values, status: 'open' });
    toast(`Reopened ${risk.key}`);
  };
  return (
    <Dialog title={`Reopen ${risk.key}`} onClose={onClose}>
      <Form<RiskPatch>
        fields={[{ name: 'reason', label: 'Reason', kind: 'text' }]}
        action="Reopen"
        submit={reopen}
        onClose={onClose}
      >
        <ItemTitle item={risk} former={former} />
        <p className="quiet">Ends the acceptance. The risk is open again.</p>
      </Form>
    </Dialog>
  );
}

type Successor = { user_id: string; reason?: string };

/** Gives an item to another person, in every part that the current person has in it. */
export function HandOver({ entry: live, onClose }: { entry: Entry; onClose: () => void }) {
  const { item: entry, former } = useOpened(live);
  const { user_id: me } = useMe();
  const patch = usePatchItem(entry.list as 'tasks' | 'issues' | 'risks');
  const { item } = entry;
  const fields: FieldOf<Successor>[] = [
    { name: 'user_id', label: 'Hand over to', kind: 'person', required: true, excluded: me ? [me] : [] },
    { name: 'reason', label: 'Reason', kind: 'text' },
  ];
  const handOver = async ({ user_id, reason }: Successor) => {
    const parts = partsOf(item, me);
    const assign = (to: string | null) => Object.fromEntries(parts.map((part) => [part, to]));
    const next = await patch(item, { ...assign(user_id), ...(reason && { reason }) });
    toast(`Handed over ${item.key} to ${nameIn(next, parts)}`, () => patch(next, assign(me)));
  };
  return (
    <Dialog title={`Hand over ${item.key}`} onClose={onClose}>
      <Form<Successor> fields={fields} action="Hand over" submit={handOver} onClose={onClose}>
        <ItemTitle item={item} former={former?.item} />
      </Form>
    </Dialog>
  );
}

const parts = ['assignee_user_id', 'owner_user_id'] as const;

type Item = Task | Issue | Risk;

/** The fields of an item that name a person. */
export const partsOf = (item: Item, user_id: string | null) =>
  parts.filter((part) => (item as Partial<Record<typeof part, string | null>>)[part] === user_id);

function nameIn(item: Item, [part]: ReturnType<typeof partsOf>): string | null {
  if (part === 'assignee_user_id') return 'assignee_name' in item ? item.assignee_name : null;
  return 'owner_name' in item ? item.owner_name : null;
}

const ItemTitle = ({ item, former }: { item: Item; former: Item | undefined }) => (
  <>
    <p>
      <bdi>{item.title}</bdi>
    </p>
    <Theirs item={item} former={former} />
  </>
);
