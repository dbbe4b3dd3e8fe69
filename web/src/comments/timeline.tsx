import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Comment, HistoryEntry } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { type ChangeGroup, Changes, groupChanges, useNames } from '../components/history.tsx';
import { Loading } from '../components/loading.tsx';
import { formatNumber } from '../format.ts';
import { CommentEntry } from './comment.tsx';
import { NewComment } from './new-comment.tsx';
import { type Subject, useChanges, useComments } from './queries.ts';
import type { RestoreOf } from './restore.ts';
import './comments.css';

type TimelineProps = {
  subject: Subject;
  /** The project of a risk, an issue or a task. */
  project?: string;
  /** Whether its project is archived. */
  isReadOnly?: boolean;
  /** For an item that can be changed. */
  restoreOf?: RestoreOf | undefined;
};

/** As many entries as fit on a screen. */
const maxShown = 20;

/** The comments on an item and its changes in one list, newest last, and below it the form for the next comment. */
export function Timeline({ subject, project, isReadOnly = false, restoreOf }: TimelineProps) {
  const canWrite = useHasScope()('projects.manage') && !isReadOnly;
  const comments = useComments(subject);
  const changes = useChanges(subject);
  const [isExpanded, setExpanded] = useState(false);
  const all = entriesOf(comments.data ?? [], changes.data ?? []);
  const linked = useLinkedComment();
  const hiddenCount = Math.max(0, all.length - maxShown);
  const isLinkedHidden = all.slice(0, hiddenCount).some(({ comment }) => comment?.id === linked);
  const shown = isExpanded || isLinkedHidden ? all : all.slice(-maxShown);
  const nameOf = useNames(
    shown.flatMap((entry) => entry.changes ?? []),
    project,
  );
  const newest = newestOfValues(changes.data ?? []);
  const failed = [comments, changes].find(({ isError }) => isError);
  const isLoaded = comments.data !== undefined && changes.data !== undefined;
  return (
    <section className="card timeline" aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      {failed && <ErrorNotice error={failed.error} retry={() => failed.refetch()} />}
      {!isLoaded && !failed && <Loading />}
      {isLoaded && (
        <>
          {shown.length < all.length && (
            <Button small plain onPress={() => setExpanded(true)}>
              Show {formatNumber(all.length - shown.length)} earlier
            </Button>
          )}
          <ol className="history">
            {shown.map(({ comment, changes }) =>
              comment ? (
                <CommentEntry
                  key={comment.id}
                  subject={subject}
                  comment={comment}
                  canWrite={canWrite}
                  isLinked={comment.id === linked}
                />
              ) : (
                <Changes
                  key={changes[0].id}
                  changes={changes}
                  nameOf={nameOf}
                  restoreOf={(change) => (newest.has(change) ? restoreOf?.(change) : undefined)}
                />
              ),
            )}
          </ol>
          {comments.data?.length === 0 && <p className="quiet">No comments yet</p>}
        </>
      )}
      {/* It would move when the entries above it load. */}
      {canWrite && (isLoaded || failed) && <NewComment subject={subject} />}
    </section>
  );
}

/** The id of the comment in the fragment of the URL. The timeline loads later, so the browser can't scroll to it. */
function useLinkedComment(): string {
  const [location] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the fragment changes with the page
  return useMemo(() => window.location.hash.slice(1), [location]);
}

/** The last change from each value of a field: where the value can be restored. */
const newestOfValues = (changes: readonly HistoryEntry[]): ReadonlySet<HistoryEntry> =>
  new Set(new Map(changes.map((change) => [JSON.stringify([change.field, change.from]), change])).values());

type Entry = { comment: Comment; changes?: never } | { changes: ChangeGroup; comment?: never };

/** Both lists are oldest first. At the same time, the change comes before the comment on it. */
function entriesOf(comments: readonly Comment[], changes: readonly HistoryEntry[]): Entry[] {
  const timeOf = (entry: Entry) => entry.comment?.created_at ?? entry.changes?.[0].at ?? '';
  return [
    ...groupChanges(changes).map((group): Entry => ({ changes: group })),
    ...comments.map((comment): Entry => ({ comment })),
  ].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
}
