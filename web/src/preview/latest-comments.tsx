import { type Subject, useComments } from '../comments/queries.ts';
import { ActorLabel } from '../components/actor.tsx';
import { Loaded } from '../components/loading.tsx';
import { MarkdownText } from '../components/markdown-text.tsx';
import { formatTime, pluralize } from '../format.ts';

const maxShown = 3;

/** The last comments on an item. All of them, and its changes, are on its page. */
export const LatestComments = ({ subject }: { subject: Subject }) => (
  <Loaded query={useComments(subject)}>
    {(comments) => (
      <>
        {comments.length === 0 && <p className="quiet">No comments yet</p>}
        {comments.length > maxShown && (
          <p className="quiet">{pluralize(comments.length - maxShown, 'earlier comment')}</p>
        )}
        <ol className="latest-comments">
          {comments.slice(-maxShown).map(({ id, author, created_at, body, mentions }) => (
            <li key={id}>
              <ActorLabel actor={author} />{' '}
              <time className="quiet" dateTime={created_at}>
                {formatTime(created_at)}
              </time>
              <div className="long" dir="auto">
                <MarkdownText text={body} mentions={mentions} />
              </div>
            </li>
          ))}
        </ol>
      </>
    )}
  </Loaded>
);
