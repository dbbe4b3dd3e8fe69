import { Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { ChangeEvent, EventType } from '../api/event-types.ts';
import type { Project } from '../api/openapi.ts';
import type { Mention } from '../comments/mentions.ts';
import { Actor } from '../components/actor.tsx';
import { formatValue } from '../components/history.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { plainText } from '../components/markdown.ts';
import { capitalize, formatNumber, humanize, labelOf } from '../format.ts';
import { shortUrl } from '../webhooks/queries.ts';
import { AccessSentence, SessionSentence } from './access-sentence.tsx';
import { type EventGroup, lists } from './bulk-events.ts';

type Props = { event: ChangeEvent; projects: readonly Project[] };

/** An event in plain words: "Ada closed risk APOLLO-R7 Supplier fails". */
export function EventSentence({ event, projects }: Props) {
  const { actor, type } = event;
  if (event.subject.type === 'access') return <AccessSentence event={event} />;
  if (event.subject.type === 'session') return <SessionSentence event={event} />;
  const subject = <Subject event={event} projects={projects} />;
  const outcome = outcomes[type];
  if (outcome && (outcome.isAlways || actor.type === 'service'))
    return (
      <>
        {humanize(event.subject.type)} {subject} {outcome.text}
      </>
    );
  const [before, after] = actionOf(event);
  return (
    <>
      <Actor actor={actor} /> {before} {subject}
      {after}
    </>
  );
}

const maxNamed = 3;

/** A change of many items: "Ada changed the owner of 12 risks: APOLLO-R7, APOLLO-R9, APOLLO-R12 and 9 more". */
export function GroupSentence({ group, isWhole }: { group: EventGroup; isWhole: boolean }) {
  const [{ actor, subject }] = group;
  const list = lists[subject.type] ?? 'risks';
  const fields = new Set(group.flatMap(({ previous }) => Object.keys(previous)).map(fieldName));
  const count = `${formatNumber(group.length)}${isWhole ? '' : ' or more'}`;
  const rest = group.length - maxNamed;
  return (
    <>
      <Actor actor={actor} /> changed the {[...fields].join(', ')} of {count} {list}:{' '}
      {group.slice(0, maxNamed).map(({ id, subject: { key } }, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <Link href={`/${list}/${key}`}>{key}</Link>
        </Fragment>
      ))}
      {rest > 0 && ` and ${formatNumber(rest)} more`}
    </>
  );
}

/** What the service itself reports, without a person who did it. */
const outcomes: Partial<Record<EventType, { text: string; isAlways?: boolean }>> = {
  'risk.acceptance_expired': { text: 'is open again, because its acceptance expired', isAlways: true },
  'risk.review_overdue': { text: 'is overdue for review', isAlways: true },
  'issue.overdue': { text: 'is overdue', isAlways: true },
  'task.overdue': { text: 'is overdue', isAlways: true },
  'person.ended': { text: 'has passed the end date', isAlways: true },
  'key.expiring': { text: 'expires within 7 days', isAlways: true },
  'webhook.disabled': { text: 'was disabled, because its receiver failed' },
};

/** The words before and after the subject, where the verb says it all. */
const verbs: Readonly<Record<string, readonly [before: string, after?: string]>> = {
  created: ['added'],
  cancelled: ['canceled'],
  materialized: ['marked', ' as occurred'],
  rotated: ['rotated the secret of'],
  replayed: ['replayed events to'],
};

function actionOf({ type, subject, data, previous }: ChangeEvent): readonly [before: string, after?: string] {
  const action = type.slice(type.indexOf('.') + 1);
  const noun = subject.type;
  const text = (name: string) => String(data[name] ?? '');
  switch (type) {
    case 'group.member_added':
      return [`added ${text('user_name')} to group`];
    case 'group.member_removed':
      return [`removed ${text('user_name')} from group`];
    case 'risk.score_changed':
      return ['changed the score of risk', fromTo(previous.score, data.score)];
    case 'risk.level_raised':
      return ['raised the level of risk', fromTo(previous.level, data.level)];
    case 'risk.level_lowered':
      return ['lowered the level of risk', fromTo(previous.level, data.level)];
    case 'organization.changed':
      return [`changed the ${Object.keys(previous).map(fieldName).join(', ')} of`];
    case 'risk_model.changed':
      return ['changed the risk model', ` to version ${text('version')}`];
    case 'comment.created':
      return [`commented on ${text('subject_type')}`, `: “${excerpt(data)}”`];
    case 'comment.updated':
      return [`edited a comment on ${text('subject_type')}`, `: “${excerpt(data)}”`];
    case 'comment.deleted':
      return [`deleted a comment on ${text('subject_type')}`];
  }
  if (action === 'updated') return updateOf(noun, data, previous);
  if (type === 'risk.materialized' && data.kind === 'opportunity') return ['marked risk', ' as realized'];
  const [before, after] = verbs[action] ?? [action];
  return [`${before} ${noun}`, after];
}

const fromTo = (from: unknown, to: unknown) => ` from ${inWords(from)} to ${inWords(to)}`;

const inWords = (value: unknown) => (value === null ? 'not assessed' : String(value).replaceAll('_', ' '));

/** The beginning of a comment. */
function excerpt({ body, mentions = [] }: ChangeEvent['data']): string {
  const people = mentions as readonly Mention[];
  const nameOf = (id: string) => people.find(({ user_id }) => user_id === id)?.name ?? 'Deleted person';
  const text = plainText(String(body ?? ''), nameOf);
  return text.length > 120 ? `${text.slice(0, 120).trimEnd()}…` : text;
}

/** One changed field is reported with its value, several by their names. */
function updateOf(noun: string, data: ChangeEvent['data'], previous: ChangeEvent['previous']) {
  const fields = Object.keys(previous);
  const [field = ''] = fields;
  if (fields.length !== 1) return [`changed ${noun}`, `: ${fields.map(fieldName).join(', ')}`] as const;
  const before = `changed the ${fieldName(field)} of ${noun}`;
  const value = data[field.replace(/_(user|group)_id$/, '_name')] ?? data[field];
  if (value === null) return [`removed the ${fieldName(field)} of ${noun}`] as const;
  if (!isShort(value)) return [before] as const;
  const words = formatValue(field, value, String);
  return [before, ` to ${/^[a-z_]+$/.test(String(value)) ? words.toLowerCase() : words}`] as const;
}

/** Not a long text, a list, or the id of another resource, whose name the event does not contain. */
const isShort = (value: unknown) =>
  typeof value === 'number' ||
  (typeof value === 'string' && /^(?![a-z]{3}_[0-9a-v]{26}$).{1,40}$/.test(value));

/** `due_on` → `due date`, `owner_user_id` → `owner`. */
const fieldName = (field: string) => {
  const label = labelOf(field);
  return `${label.charAt(0).toLowerCase()}${label.slice(1)}${field.endsWith('_on') ? ' date' : ''}`;
};

/** The name of what was changed, linked to its page while there is one. */
function Subject({ event: { type, subject, data }, projects }: Props): ReactNode {
  const isGone = type.endsWith('.deleted') || type === 'category.merged';
  const linkTo = (path: string, name: ReactNode) => (isGone ? name : <Link href={path}>{name}</Link>);
  const given = String(data.name ?? data.group_name ?? '');
  const name = <bdi>{subject.type === 'category' ? capitalize(given) : given}</bdi>;
  switch (subject.type) {
    case 'person':
      return linkTo(`/personnel/${subject.id}`, name);
    case 'group':
      return linkTo(`/groups/${subject.id}`, name);
    case 'project':
      return linkTo(`/projects/${subject.key}`, name);
    case 'key':
      return linkTo('/keys', name);
    case 'category':
      return linkTo('/settings/categories', name);
    case 'organization':
      return linkTo('/settings/organization', 'the organization');
    case 'report':
      return linkTo(`/reports/${subject.id}`, <bdi>{String(data.title)}</bdi>);
    case 'risk_model':
      return null;
    case 'webhook':
      return linkTo(`/webhooks/${subject.id}`, <bdi>{shortUrl(String(data.url))}</bdi>);
    case 'comment': {
      const list = lists[String(data.subject_type)];
      if (list)
        return <ItemLink project={String(data.project_id)} list={list} id={String(data.subject_id)} />;
      const project = projects.find(({ id }) => id === data.project_id);
      return project && linkTo(`/projects/${project.key}`, <bdi>{project.name}</bdi>);
    }
    default:
      return linkTo(
        `/${lists[subject.type]}/${subject.key}`,
        <>
          {subject.key} <bdi>{String(data.title)}</bdi>
        </>,
      );
  }
}
