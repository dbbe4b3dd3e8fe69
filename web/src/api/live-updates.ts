import { focusManager } from '@tanstack/react-query';
import { isAffected } from './affected.ts';
import { basePath } from './client.ts';
import { checkConnection } from './connection.ts';
import { type Subject, subjectOf } from './event-types.ts';
import { eventTypeValues } from './openapi.ts';
import { queryClient } from './queries.ts';
import { checkSession, sessionItem, watchSession } from './session.ts';

/** After a longer interruption everything is read again, because many events may have been missed. */
const maxGapMs = 60_000;
const minRetryMs = 5_000;
const maxRetryMs = 60_000;
/** After a stream that was open has ended. */
const reconnectMs = 2_000;

/** Waits for the other events of the same change. */
const settleMs = 300;
/** The pause after an update. It doubles while changes keep coming, as during an import. */
const minPauseMs = 1_000;
const maxPauseMs = 15_000;
const openCheckMs = 500;
/** A request that hangs holds up the next update only for this time. */
const maxReadMs = 30_000;

/** Updates pages when other clients change what they show, while the key in use can read events. */
export function startLiveUpdates(): void {
  let stream: ReturnType<typeof followEvents> | undefined;
  watchSession((session) => {
    const isLive =
      session.state === 'signedIn' &&
      session.me.scopes.some((scope) => scope === 'events.read' || scope === 'events.manage');
    if (isLive) stream ??= followEvents();
    else {
      stream?.stop();
      stream = undefined;
    }
  });
  // While the tab was hidden, somebody else may have signed in: nothing is read before that is known.
  focusManager.setEventListener((refetchStale) => {
    const followVisibility = async () => {
      if (document.hidden) return stream?.close();
      const canGoOn = await checkSession();
      if (canGoOn) refetchStale();
      void stream?.open(canGoOn);
    };
    const followSignIns = ({ key }: StorageEvent) => void (key === sessionItem && checkSession());
    document.addEventListener('visibilitychange', followVisibility);
    addEventListener('storage', followSignIns);
    return () => {
      document.removeEventListener('visibilitychange', followVisibility);
      removeEventListener('storage', followSignIns);
    };
  });
}

/** Follows the event stream while the tab is visible. */
function followEvents() {
  const updates = createUpdates();
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** The sequence number of the last event. Undefined if events may have been missed since then. */
  let position: string | undefined;
  let closedAt = 0;
  let isStopped = false;

  /** Reads first who is signed in, unless that was just done. */
  async function open(isChecked = false): Promise<void> {
    // Browsers allow few connections to a host, which the visible tab needs more than the others.
    const canOpen = () => !source && !document.hidden && !isStopped;
    clearTimeout(retry);
    if (!canOpen()) return;
    if (!isChecked && !(await checkSession())) return reopenLater();
    if (!canOpen()) return;
    if (Date.now() - closedAt > maxGapMs) position = undefined;
    const after = position === undefined ? '' : `?after=${position}`;
    const opened = new EventSource(`${basePath}/v1/events/stream${after}`);
    source = opened;
    opened.onopen = () => {
      failures = 0;
      if (position === undefined) refetchLoaded();
    };
    opened.onerror = () => {
      void checkConnection();
      // The browser does not report why the service rejected the stream.
      if (opened.readyState === EventSource.CLOSED) position = undefined;
      // The browser would reconnect by itself, for whoever is signed in by then.
      reopenLater(opened.readyState === EventSource.CLOSED ? undefined : reconnectMs);
    };
    for (const type of eventTypeValues) {
      opened.addEventListener(type, ({ lastEventId }) => {
        position = lastEventId;
        updates.add(subjectOf(type));
        // The day and the periods that the pages show may be others now.
        if (type === 'organization.changed') void checkSession();
      });
    }
    opened.addEventListener('closed', ({ data }) => {
      if (JSON.parse(data).reason === 'events_lost') position = undefined;
      if (['key_changed', 'access_changed'].includes(JSON.parse(data).reason)) void checkSession();
    });
  }

  function close(): void {
    clearTimeout(retry);
    source?.close();
    if (source) closedAt = Date.now();
    source = undefined;
  }

  function reopenLater(afterMs?: number): void {
    close();
    if (isStopped) return;
    retry = setTimeout(() => void open(), afterMs ?? Math.min(minRetryMs * 2 ** failures, maxRetryMs));
    if (afterMs === undefined) failures += 1;
  }

  function stop(): void {
    isStopped = true;
    close();
    updates.stop();
  }

  void open(true);
  return { open, close, stop };
}

/** Reads again what was loaded before the stream was open. Queries that still run are as new as the stream. */
const refetchLoaded = () =>
  void queryClient.invalidateQueries({ predicate: ({ state }) => state.fetchStatus === 'idle' });

/** Collects changes and refetches the queries that they affect, never faster than the service responds. */
function createUpdates() {
  const changed = new Set<Subject>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = minPauseMs;
  let isStopped = false;

  const wait = (ms: number) => {
    timer = isStopped ? undefined : setTimeout(update, ms);
  };

  async function update(): Promise<void> {
    if (changed.size === 0) {
      timer = undefined;
      pauseMs = minPauseMs;
      return;
    }
    // An open dialog, popover or cell can belong to a row that the update removes.
    if (document.querySelector('.overlay, .popover, .cell-editor')) return wait(openCheckMs);
    const subjects = [...changed];
    changed.clear();
    const isRead = queryClient.invalidateQueries({
      predicate: ({ queryKey }) => isAffected(queryKey[0], subjects),
    });
    await Promise.race([isRead, new Promise((resolve) => setTimeout(resolve, maxReadMs))]);
    wait(pauseMs);
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
  }

  return {
    add(subject: Subject): void {
      changed.add(subject);
      if (timer === undefined) wait(settleMs);
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
