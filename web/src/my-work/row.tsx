import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Link } from 'wouter';
import { usePatchItem } from '../api/items.ts';
import type { Task } from '../api/openapi.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { ActionButton, useAction } from '../components/action-button.tsx';
import { Score, Severity, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { toast } from '../components/toast.tsx';
import { formatDay, pluralize } from '../format.ts';
import { type IssueStatus, labelOf, needsInput, useIssueStatus } from '../issues/issue-status.tsx';
import { partsOf } from './dialogs.tsx';
import type { Entry, EntryOf } from './entries.ts';

/** What a dialog asks for before an item is changed. A status is that of an issue. */
export type ActionName = 'still-valid' | 'reassess' | 'extend' | 'reopen' | 'hand-over' | IssueStatus;

type Props = {
  entry: Entry;
  today: string;
  open: (action: ActionName) => void;
};

/** An item with the reason why it waits, and what can be done with it. */
export const WorkRow = (props: Props) => {
  const { entry, today } = props;
  const { item, list, day } = entry;
  const isOverdue = day !== null && day < today;
  return (
    <li className="work-row">
      <span className={isOverdue ? 'work-day overdue' : 'work-day quiet'} title={day ? formatDay(day) : ''}>
        {dayText(entry, today)}
      </span>
      <span className="work-badge">
        <Badge entry={entry} />
      </span>
      <span className="work-item">
        <Link href={`/${list}/${item.key}`}>
          <bdi>{item.title}</bdi>
        </Link>
        <span className="quiet">
          <span className="key">{item.key}</span> · <bdi>{item.project_name}</bdi>
        </span>
      </span>
      <Status status={item.status} />
      <Actions {...props} />
    </li>
  );
};

function Badge({ entry }: { entry: Entry }) {
  if (entry.kind === 'task') return <span className="chip">Task</span>;
  if (entry.kind === 'issue') return <Severity severity={entry.item.severity} />;
  const { score, level, kind } = entry.item;
  return <Score score={score} level={level} kind={kind} />;
}

const verbs: Record<Entry['kind'], string> = {
  task: 'Due',
  issue: 'Due',
  risk: 'Due',
  review: 'Review',
  acceptance: 'Accepted until',
};

/** `Due tomorrow`, `Review 3 days overdue`. */
function dayText({ kind, day }: Entry, today: string): string {
  if (day === null) return 'No due date';
  const days = Math.round((Date.parse(day) - Date.parse(today)) / 86_400_000);
  const verb = verbs[kind];
  if (days < 0) {
    const late = `${pluralize(-days, 'day')} overdue`;
    return kind === 'review' ? `Review ${late}` : late;
  }
  if (days === 0) return `${verb} today`;
  if (days === 1) return `${verb} tomorrow`;
  return `${verb} ${formatDay(day)}`;
}

/** The most likely action as a button, the others in a menu. Nothing for a person who can't change projects. */
function Actions({ entry, open }: Props) {
  const hasScope = useHasScope();
  const { user_id } = useMe();
  if (!hasScope('projects.manage')) return null;
  const { item } = entry;
  const canHandOver = hasScope('personnel.read') && partsOf(item, user_id).length > 0;
  const handOver: MenuAction[] = canHandOver ? [['hand-over', 'Hand over…']] : [];
  const button = (action: ActionName, label: string) => (
    <Button small aria-label={`${label} ${item.key}`} onPress={() => open(action)}>
      {label}
    </Button>
  );
  switch (entry.kind) {
    case 'task':
      return (
        <span className="work-actions">
          <Done task={entry.item} />
          <MoreActions entry={entry} actions={handOver} run={open} />
        </span>
      );
    case 'issue':
      return <IssueActions entry={entry} handOver={handOver} open={open} />;
    case 'risk':
      return (
        <span className="work-actions">
          {button('reassess', 'Reassess…')}
          <MoreActions entry={entry} actions={handOver} run={open} />
        </span>
      );
    case 'review':
      return (
        <span className="work-actions">
          {button('still-valid', 'Still valid…')}
          <MoreActions entry={entry} actions={[['reassess', 'Reassess…'], ...handOver]} run={open} />
        </span>
      );
    case 'acceptance':
      return (
        <span className="work-actions">
          {button('extend', 'Extend…')}
          <MoreActions
            entry={entry}
            actions={[['reopen', 'Reopen…'], ['reassess', 'Reassess…'], ...handOver]}
            run={open}
          />
        </span>
      );
  }
}

function Done({ task }: { task: Task }) {
  const patch = usePatchItem('tasks');
  const complete = async () => {
    const next = await patch(task, { status: 'done' });
    toast(`Marked ${task.key} as done`, () => patch(next, { status: task.status }));
  };
  return (
    <ActionButton small icon="check" aria-label={`Done ${task.key}`} act={complete}>
      Done
    </ActionButton>
  );
}

type IssueProps = {
  entry: EntryOf<'issue'>;
  handOver: readonly MenuAction[];
  open: (action: ActionName) => void;
};

function IssueActions({ entry, handOver, open }: IssueProps) {
  const { item } = entry;
  const { transitions, changeStatus } = useIssueStatus(item);
  const { run } = useAction();
  const others = transitions.filter((to) => to !== 'resolved');
  const act = (action: ActionName) => {
    const status = others.find((to) => to === action);
    if (status && !needsInput(item.status, status)) void run(() => changeStatus({ status }));
    else open(action);
  };
  return (
    <span className="work-actions">
      <Button small aria-label={`Resolve… ${item.key}`} onPress={() => open('resolved')}>
        Resolve…
      </Button>
      <MoreActions
        entry={entry}
        actions={[...others.map((to): MenuAction => [to, labelOf(item.status, to)]), ...handOver]}
        run={act}
      />
    </span>
  );
}

type MenuAction = readonly [action: ActionName, label: string];

type MenuProps = { entry: Entry; actions: readonly MenuAction[]; run: (action: ActionName) => void };

const MoreActions = ({ entry, actions, run }: MenuProps) =>
  actions.length > 0 && (
    <MenuTrigger>
      <Button small plain icon="more" aria-label={`More actions for ${entry.item.key}`} />
      <Popover className="popover" placement="bottom end">
        <Menu
          className="options"
          aria-label={`More actions for ${entry.item.key}`}
          onAction={(action) => run(action as ActionName)}
        >
          {actions.map(([action, label]) => (
            <MenuItem key={action} id={action} className="option">
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
