import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { HandoverItem, HandoverRecord, HandoverUndo, HistoryEntry, Person } from '../api/openapi.ts';
import { useRefresh, useRows } from '../api/queries.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { toast } from '../components/toast.tsx';
import { formatNumber, formatTime, pluralize } from '../format.ts';
import './handovers.css';

/** The hand-overs of a person, newest first. */
export function useHandovers(user_id: string): readonly HandoverRecord[] {
  const { data } = useQuery({
    queryKey: ['handovers', user_id],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/personnel/{user_id}/handovers', { params: { path: { user_id } } })),
  });
  return data?.data ?? [];
}

/** Gives back what nobody has changed since, and says what was left. */
export function useUndoHandover() {
  const refresh = useRefresh();
  return async ({ user_id }: { user_id: string }, handover_id: string): Promise<HandoverUndo> => {
    const params = { path: { user_id, handover_id } };
    const result = await dataOrThrow(
      api.POST('/v1/personnel/{user_id}/handovers/{handover_id}/undo', { params, body: {} }),
    );
    await refresh();
    const { restored, left } = result.handover;
    const returned = `Returned ${pluralize(restored, 'item')} to ${result.person.name}`;
    toast(left > 0 ? `${returned}. ${pluralize(left, 'item')} changed since and stayed.` : returned);
    return result;
  };
}

/** What was handed over, by link, with Undo. */
export function Handovers({ person }: { person: Person }) {
  const handovers = useHandovers(person.user_id);
  if (handovers.length === 0) return null;
  return (
    <section className="card" aria-labelledby="handovers">
      <h2 id="handovers">Work handed over</h2>
      {handovers.map((handover) => (
        <div key={handover.id} className="handover">
          <header>
            <p>
              <strong>{pluralize(handover.items, 'item')}</strong>{' '}
              <span className="quiet">{describe(handover)}</span>
            </p>
            <UndoButton person={person} handover={handover}>
              Undo hand-over
            </UndoButton>
          </header>
          <Items handover={handover} limit={10} />
        </div>
      ))}
    </section>
  );
}

function describe({ at, undone_at, restored, left }: HandoverRecord): string {
  const time = formatTime(at);
  if (undone_at === null) return time;
  const stayed = left > 0 ? `, ${formatNumber(left)} stayed` : '';
  return `${time}. Undone ${formatTime(undone_at)}: ${formatNumber(restored)} returned${stayed}`;
}

type EntryProps = { person: Person; handovers: readonly HandoverRecord[]; entry: HistoryEntry };

/** What moved with a hand-over in the history, by link, with Undo. */
export function HandoverInHistory({ person, handovers, entry }: EntryProps) {
  const handover = handovers.find(({ at }) => at === entry.at);
  if (!handover) return null;
  return (
    <div className="handover">
      <Items handover={handover} limit={3} isShort />
      <UndoButton person={person} handover={handover} label={`Undo, hand-over of ${formatTime(handover.at)}`}>
        Undo
      </UndoButton>
    </div>
  );
}

type UndoProps = { person: Person; handover: HandoverRecord; label?: string; children: string };

function UndoButton({ person, handover, label, children }: UndoProps) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const undo = useUndoHandover();
  const canUndo = hasScope('personnel.manage') && hasScope('projects.manage') && !isLimited;
  if (!canUndo || handover.undone_at !== null) return null;
  return (
    <DialogButton
      small
      {...(label && { 'aria-label': label })}
      dialog={(onClose) => (
        <Confirm
          title="Undo hand-over"
          action="Undo hand-over"
          act={() => undo(person, handover.id)}
          onClose={onClose}
        >
          <p>
            {pluralize(handover.items, 'item')} went to others on {formatTime(handover.at)}. Whatever nobody
            has changed since returns to {person.name}
            {person.status === 'inactive' && ', who becomes active again'}. The rest stays where it is now.
          </p>
        </Confirm>
      )}
    >
      {children}
    </DialogButton>
  );
}

type ItemsProps = { handover: HandoverRecord; limit: number; isShort?: boolean };

/** What has moved. The short form has only the keys or names, and links to the rest. */
function Items({ handover: { id: handover_id, user_id }, limit, isShort = false }: ItemsProps) {
  const items = useRows(
    ['handover-items', handover_id],
    (paging) =>
      dataOrThrow(
        api.GET('/v1/personnel/{user_id}/handovers/{handover_id}/items', {
          params: { path: { user_id, handover_id }, query: paging },
        }),
      ),
    { limit },
  );
  const { rows, total, hasNextPage, isFetchingNextPage } = items;
  if (items.isError) return <ErrorNotice error={items.error} retry={() => items.refetch()} />;
  if (isShort)
    return (
      <p className="quiet">
        {rows.map((item) => (
          <span key={item.id} className="listed">
            <ItemLink item={item}>{item.key ?? item.title}</ItemLink>
          </span>
        ))}
        {total !== null && total > rows.length && (
          <a href="#handovers">and {formatNumber(total - rows.length)} more</a>
        )}
      </p>
    );
  return (
    <>
      <ul className="lines aligned">
        {rows.map((item) => (
          <li key={item.id}>
            <span className="key">{item.key}</span>
            <ItemLink item={item}>
              <bdi>{item.title ?? 'Deleted'}</bdi>
            </ItemLink>
            <span className="quiet">{roleOf(item)}</span>
            <span className="quiet">{outcomeOf(item)}</span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button small plain isPending={isFetchingNextPage} onPress={() => void items.fetchNextPage()}>
          Show more of this hand-over
        </Button>
      )}
    </>
  );
}

const paths: Readonly<Record<HandoverItem['type'], string>> = {
  task: 'tasks',
  issue: 'issues',
  risk: 'risks',
  project: 'projects',
  group: 'groups',
  membership: 'groups',
  person: 'personnel',
};

/** Something that was deleted since has no page. */
const ItemLink = ({ item, children }: { item: HandoverItem; children: React.ReactNode }) =>
  item.title === null ? (
    <span className="grow quiet">{children ?? 'Deleted'}</span>
  ) : (
    <Link className="grow" href={`/${paths[item.type]}/${item.key ?? item.subject_id}`}>
      {children}
    </Link>
  );

const roles: Readonly<Record<string, string>> = {
  owner_user_id: 'Owner',
  assignee_user_id: 'Assignee',
  lead_user_id: 'Lead',
  manager_user_id: 'Manager',
  accountable_user_id: 'Accountable person',
  member: 'Member',
};

/** What the person was. */
const roleOf = ({ changes }: HandoverItem) => changes.flatMap(({ field }) => roles[field] ?? []).join(', ');

const reasons = {
  changed: 'Stayed: changed since',
  deleted: 'Deleted since',
  archived: 'Stayed: project archived',
  conflict: 'Stayed: conflicts with a later change',
} as const;

const outcomeOf = ({ outcome, left_because }: HandoverItem) =>
  outcome === 'restored' ? 'Returned' : left_because && reasons[left_because];
