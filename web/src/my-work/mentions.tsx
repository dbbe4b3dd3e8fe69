import { Link } from 'wouter';
import type { MentionComment, Work } from '../api/openapi.ts';
import { PersonLabel } from '../components/badges.tsx';
import { formatAge, formatNumber, formatTime } from '../format.ts';

/** Comments that mention the person. Each opens its item at the comment. */
export const Mentions = ({ mentions: { total, data } }: { mentions: Work['mentions'] }) =>
  total > 0 && (
    <section className="card" aria-labelledby="mentions">
      <h2 id="mentions">
        Mentions in the last 30 days <span className="quiet">{formatNumber(total)}</span>
      </h2>
      <ul className="lines mentions">
        {data.map((comment) => (
          <Mention key={comment.id} comment={comment} />
        ))}
      </ul>
    </section>
  );

const Mention = ({ comment }: { comment: MentionComment }) => (
  <li>
    <PersonLabel name={comment.author.name} />
    <span className="work-item">
      <Link href={hrefOf(comment)}>
        <bdi>{textOf(comment)}</bdi>
      </Link>
      <span className="quiet">
        <span className="key">{comment.subject_key}</span> · <bdi>{comment.subject_title}</bdi>
      </span>
    </span>
    <time className="quiet" dateTime={comment.created_at} title={formatTime(comment.created_at)}>
      {formatAge(comment.created_at)}
    </time>
  </li>
);

const hrefOf = ({ id, subject_type, subject_key }: MentionComment) =>
  subject_type === 'project'
    ? `/projects/${subject_key}?tab=activity#${id}`
    : `/${subject_type}s/${subject_key}#${id}`;

const maxLength = 200;

/** The start of a comment in one line, with names in place of ids. */
function textOf({ body, mentions }: MentionComment): string {
  let text = body;
  for (const { user_id, name } of mentions) text = text.replaceAll(`@${user_id}`, `@${name}`);
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength).trimEnd()}…` : line;
}
