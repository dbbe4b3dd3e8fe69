import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import { readItem } from '../api/items.ts';
import type { HistoryEntry } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { type Subject, useChanges } from '../comments/queries.ts';
import type { RestoreOf } from '../comments/restore.ts';
import {
  attributeLabel,
  capitalize,
  formatDayOrText,
  formatNumber,
  formatTime,
  humanize,
  labelOf,
  summarizeScopes,
} from '../format.ts';
import { ActionButton } from './action-button.tsx';
import { ByActor } from './actor.tsx';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { Loaded } from './loading.tsx';
import { MarkdownLine } from './markdown-text.tsx';

const maxShown = 12;

type HistoryProps = {
  subject: Subject;
  /** Where a page has several. */
  title?: string;
  /** What to show below a change. */
  below?: (entry: HistoryEntry) => ReactNode;
};

/** The changes of a resource, newest first. */
export function History({ subject, title = 'History', below }: HistoryProps) {
  const query = useChanges(subject);
  const [isExpanded, setExpanded] = useState(false);
  const all = groupChanges(query.data ?? []).toReversed();
  const shown = all.slice(0, isExpanded ? undefined : maxShown);
  const nameOf = useNames(shown.flat());
  return (
    <Card id={title.toLowerCase().replaceAll(' ', '-')} title={title}>
      <Loaded query={query}>
        {() => (
          <>
            {all.length === 0 && <p className="quiet">No changes yet</p>}
            <ol className="history">
              {shown.map((changes) => (
                <Changes key={changes[0].id} changes={changes} nameOf={nameOf} below={below} />
              ))}
            </ol>
            {!isExpanded && all.length > maxShown && (
              <Button small plain onPress={() => setExpanded(true)}>
                Show all {formatNumber(all.length)}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

export type ChangeGroup = readonly [HistoryEntry, ...HistoryEntry[]];

type ChangesProps = { changes: ChangeGroup; nameOf: NameOf; restoreOf?: RestoreOf } & Pick<
  HistoryProps,
  'below'
>;

/** The fields that one request has changed, with its reason, time and author once. */
export const Changes = ({ changes, nameOf, restoreOf, below }: ChangesProps) => {
  const [first] = changes;
  return (
    <li className={changes.length > 1 ? 'change several' : 'change'}>
      {changes.map((change, index) => (
        <div key={change.id} className="change-line">
          <p>
            <HistoryChange entry={change} nameOf={nameOf} />
            {index === changes.length - 1 && <Reason entry={first} />}
          </p>
          <Restore entry={change} nameOf={nameOf} act={restoreOf?.(change)} />
        </div>
      ))}
      {below?.(changes.find(({ field, to }) => field.startsWith('handover_') && to !== null) ?? first)}
      <p className="quiet">
        <time dateTime={first.at}>{formatTime(first.at)}</time> <ByActor actor={first.actor} />
      </p>
    </li>
  );
};

type RestoreProps = ChangeProps & { act: ReturnType<RestoreOf> };

function Restore({ entry: { field, from }, nameOf, act }: RestoreProps) {
  const value = formatValue(field, from, nameOf);
  if (!act) return null;
  return (
    <ActionButton
      small
      plain
      className="restore no-print"
      aria-label={`Restore this value: ${labelOf(field)} ${value.slice(0, 80)}`}
      act={act}
    >
      Restore this value
    </ActionButton>
  );
}

export function groupChanges(changes: readonly HistoryEntry[]): ChangeGroup[] {
  const groups: [HistoryEntry, ...HistoryEntry[]][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last && areTogether(last[0], change)) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Changes of one request have the same time, to the millisecond. */
const areTogether = (a: HistoryEntry, b: HistoryEntry) =>
  a.at === b.at && isSameActor(a.actor, b.actor) && a.reason === b.reason;

const isSameActor = (a: HistoryEntry['actor'], b: HistoryEntry['actor']) =>
  a.user_id === b.user_id && a.key_id === b.key_id && a.name === b.name;

type NameOf = (id: string) => string;

/** People join and leave a group one by one, in its history and in theirs. */
const memberships: Readonly<Record<string, { added: string; removed: string }>> = {
  member: { added: 'Added member', removed: 'Removed member' },
  group: { added: 'Added to group', removed: 'Removed from group' },
};

type ChangeProps = { entry: HistoryEntry; nameOf: NameOf };

/** What was changed. */
function HistoryChange({ entry, nameOf }: ChangeProps) {
  const { field } = entry;
  if (['created', 'deleted', 'rotated', 'revoked'].includes(field)) return <strong>{humanize(field)}</strong>;
  if (field.startsWith('handover_')) return <HandOver entry={entry} nameOf={nameOf} />;
  if (memberships[field]) return <MembershipChange entry={entry} nameOf={nameOf} />;
  return <ValueChange entry={entry} nameOf={nameOf} />;
}

/** The work of a person was reassigned to another person or a group. */
function HandOver({ entry: { field, from, to }, nameOf }: ChangeProps) {
  const isUndone = to === null;
  const id = String(isUndone ? from : to);
  const name = nameOf(id);
  const path = field === 'handover_to_user_id' ? 'personnel' : 'groups';
  return (
    <>
      <strong>{isUndone ? 'Hand-over undone' : labelOf(field)}</strong> {isUndone ? 'from' : 'to'}{' '}
      {name === nameOfUnknown(id) ? (
        name
      ) : (
        <Link className="value" href={`/${path}/${id}`}>
          {name}
        </Link>
      )}
    </>
  );
}

function MembershipChange({ entry: { field, from, to }, nameOf }: ChangeProps) {
  const isAdded = from === null;
  return (
    <>
      <strong>{memberships[field]?.[isAdded ? 'added' : 'removed']}</strong>{' '}
      <span className="value">{formatValue(field, isAdded ? to : from, nameOf)}</span>
    </>
  );
}

function ValueChange({ entry: { field, from, to }, nameOf }: ChangeProps) {
  const [before, after] = [formatValue(field, from, nameOf), formatValue(field, to, nameOf)];
  return (
    <>
      <strong>{labelOf(field)}</strong>{' '}
      {before === noValue ? (
        <>
          set to <span className="value">{after}</span>
        </>
      ) : after === noValue ? (
        <>
          removed, was <span className="value">{before}</span>
        </>
      ) : (
        <>
          <span className="value">{before}</span>
          <span className="visually-hidden"> to </span>
          <span aria-hidden="true"> → </span>
          <span className="value">{after}</span>
        </>
      )}
    </>
  );
}

/** Why it was changed. */
const Reason = ({ entry: { reason } }: { entry: HistoryEntry }) =>
  reason && (
    <>
      {' '}
      <q dir="auto">
        <MarkdownLine text={reason} />
      </q>
    </>
  );

const isId = (value: unknown) => typeof value === 'string' && /^[a-z]{3}_[0-9a-v]{26}$/.test(value);

const noValue = '–';

/** The fields whose values are words of the API. Other text is shown as it was entered. */
const enumFields = [
  'status',
  'kind',
  'severity',
  'priority',
  'resolution',
  'strategy',
  'acceptance',
  'source',
  'first_day_of_week',
];

export function formatValue(field: string, value: unknown, nameOf: NameOf): string {
  if (value === null || value === undefined || value === '') return noValue;
  if (Array.isArray(value) && field === 'scopes') return summarizeScopes(value.map(String)) || noValue;
  if (Array.isArray(value)) return value.map((one) => formatValue(field, one, nameOf)).join(', ') || noValue;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([name, one]) => `${attributeLabel(name)}: ${one}`);
    return parts.join(', ') || noValue;
  }
  const text = String(value);
  if (isId(text)) return nameOf(text);
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return formatTime(text);
  if (field === 'category') return capitalize(text);
  return enumFields.includes(field) ? humanize(text) : formatDayOrText(text);
}

/** Reads the names of the people, groups and items that the entries refer to. */
export function useNames(entries: readonly HistoryEntry[], project = ''): NameOf {
  const hasScope = useHasScope();
  const ids = [...new Set(entries.flatMap(({ from, to }) => [from, to].flat()).filter(isId))].sort();
  const { data: names = {} } = useQuery({
    queryKey: ['names', ids],
    enabled: ids.length > 0,
    queryFn: async () => {
      const found = await Promise.all([
        hasScope('personnel.read') ? readPeople(ids.filter((id) => String(id).startsWith('usr_'))) : [],
        ...ids.map((id) => readName(String(id), project).catch(() => [])),
      ]);
      return Object.fromEntries(found.flat());
    },
  });
  return (id) => names[id] ?? nameOfUnknown(id);
}

const unknownItems: Readonly<Record<string, string>> = {
  usr: 'a person',
  grp: 'a group',
  prj: 'a project',
  rsk: 'a risk',
  iss: 'an issue',
};

/** For an item that the key in use can't see, or that has been deleted. */
const nameOfUnknown = (id: string) => unknownItems[id.slice(0, 3)] ?? 'Unknown';

type Name = readonly [id: string, name: string];

async function readPeople(user_ids: readonly unknown[]): Promise<Name[]> {
  if (user_ids.length === 0) return [];
  const { data } = await dataOrThrow(
    api.GET('/v1/personnel', { params: { query: { user_ids: user_ids.map(String) } } }),
  );
  return data.map(({ user_id, name }) => [user_id, name]);
}

async function readName(id: string, project: string): Promise<Name[]> {
  switch (id.slice(0, 3)) {
    case 'grp':
      return [[id, (await dataOrThrow(api.GET('/v1/groups/{id}', { params: { path: { id } } }))).name]];
    case 'prj': {
      const params = { path: { project_id: id } };
      return [[id, (await dataOrThrow(api.GET('/v1/projects/{project_id}', { params }))).key]];
    }
    case 'rsk':
      return [[id, (await readItem('risks', { project_key: project, key: id })).key]];
    case 'iss':
      return [[id, (await readItem('issues', { project_key: project, key: id })).key]];
    default:
      return [];
  }
}
