import { isAffected } from './affected.ts';
import { basePath } from './client.ts';
import { checkConnection } from './connection.ts';
import { type Subject, subjectOf } from './event-types.ts';
import { eventTypeValues } from './openapi.ts';
import { queryClient } from './queries.ts';
import { endSessionOn401, reloadMe, watchSession } from './session.ts';

/** After a longer interruption everything is read again, because many events may have been missed. */
const maxGapMs = 60_000;
const minRetryMs = 5_000;
const maxRetryMs = 60_000;

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
  let stop: (() => void) | undefined;
  watchSession((session) => {
    const isLive =
      session.state === 'signedIn' &&
      session.me.scopes.some((scope) => scope === 'events.read' || scope === 'events.manage');
    if (isLive) stop ??= followEvents();
    else {
      stop?.();
      stop = undefined;
    }
  });
}

/** Follows the event stream while the tab is visible. Returns the function that ends it. */
function followEvents(): () => void {
  const updates = createUpdates();
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** The sequence number of the last event. Undefined if events may have been missed since then. */
  let position: string | undefined;
  let closedAt = 0;

  function open(): void {
    // Browsers allow few connections to a host, which the visible tab needs more than the others.
    if (source || document.hidden) return;
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
      // Otherwise the browser reconnects by itself.
      if (opened.readyState === EventSource.CLOSED) reopenLater();
    };
    for (const type of eventTypeValues) {
      opened.addEventListener(type, ({ lastEventId }) => {
        position = lastEventId;
        updates.add(subjectOf(type));
        // The day and the periods that the pages show may be others now.
        if (type === 'organization.changed') checkKey();
      });
    }
    opened.addEventListener('closed', ({ data }) => {
      if (JSON.parse(data).reason === 'events_lost') refetchLoaded();
      if (['key_changed', 'access_changed'].includes(JSON.parse(data).reason)) checkKey();
    });
  }

  function close(): void {
    clearTimeout(retry);
    source?.close();
    if (source) closedAt = Date.now();
    source = undefined;
  }

  /** The browser does not report why the service rejected the stream. */
  function reopenLater(): void {
    close();
    position = undefined;
    retry = setTimeout(open, Math.min(minRetryMs * 2 ** failures, maxRetryMs));
    failures += 1;
    checkKey();
  }

  const followVisibility = () => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', followVisibility);
  open();
  return () => {
    document.removeEventListener('visibilitychange', followVisibility);
    close();
    updates.stop();
  };
}

/** The key in use may have been revoked, or have other scopes now. */
const checkKey = () => void reloadMe().catch(endSessionOn401);

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
