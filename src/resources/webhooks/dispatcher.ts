import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { type Clock, momentOf } from '../../core/clock.ts';
import { unavailable } from '../../core/errors.ts';
import type { Database } from '../../database/open.ts';
import { coalesced, versionOf } from '../../database/versions.ts';
import { createPacer } from '../../formats/pace.ts';
import type { Tracing } from '../../http/ops/tracing.ts';
import { chunk } from '../../store/writes/rows.ts';
import {
  type ActiveWebhook,
  claimDue,
  hasDue,
  listActiveWebhooks,
  maxInFlightOf,
  type Result,
  recordResults,
  releaseClaims,
} from './claims.ts';
import type { Claim } from './deliveries.ts';
import { createFanOut } from './fan-out.ts';
import { findMessages } from './message.ts';
import { type Attempt, type Message, noAttempt, type Sender } from './send.ts';

declare module 'fastify' {
  interface FastifyInstance {
    webhooks: Dispatcher;
    deliveryCounts: DeliveryCounts;
  }
}

/** Deliveries: pending in all instances, otherwise those of this process since its start. `missed`: events that were deleted. */
type DeliveryCounts = {
  pending: number;
  delivered: number;
  retried: number;
  failed: number;
  missed: number;
};

type Dispatcher = ReturnType<typeof createDispatcher>;

type Options = {
  database: Database;
  clock: Clock;
  sender: Sender;
  counts: DeliveryCounts;
  tracing?: Tracing | undefined;
  onError(error: unknown): void;
  /** How long `stop` waits for attempts in flight. */
  maxStopMs?: number;
  /** How often to look for webhooks, and for deliveries that are due. New events are noticed sooner. */
  pollMs?: number;
};

/** Attempts in flight of a process, so that neither sockets nor memory depend on the number of webhooks. */
const maxInFlight = 64;

/** Webhooks whose deliveries are claimed, and results that are stored, in one transaction. Other writers wait for it. */
const webhooksPerClaim = 32;
const resultsPerWrite = 32;

/** Events that follow each other within this time share a round. */
const eventDelayMs = 50;

/**
 * Sends events to webhooks. Any number of instances can run: the position of each webhook and the claims on its
 * deliveries are in the database, so a delivery has one sender at a time, and none is lost when a process dies.
 */
export function createDispatcher({
  database,
  clock,
  sender,
  counts,
  tracing,
  onError,
  maxStopMs = 5_000,
  pollMs = 500,
}: Options) {
  const inFlight = new Map<Claim, Promise<void>>();
  /** Places of attempts that requests wait for. */
  let takenPlaces = 0;
  const freePlaces = () => Math.max(0, maxInFlight - inFlight.size - takenPlaces);
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** What the last round has seen. It is repeated only if something has changed since, or becomes due. */
  let seen: { version: number; nextDueAt: string | null } | undefined;
  /** Webhooks whose due deliveries wait for earlier ones, or for a free place. */
  const blocked = new Set<string>();

  /** Whether a webhook has failed in this round, so that the round is repeated. */
  let hasErrors = false;
  const createDeliveries = createFanOut(database, (error) => {
    hasErrors = true;
    onError(error);
  });

  async function runRound(): Promise<void> {
    const versions = await database.versions();
    const version = versionOf(versions, ['events', 'webhooks', 'webhook_deliveries']);
    const { now } = clock();
    if (seen?.version === version && (seen.nextDueAt === null || seen.nextDueAt > now)) return;
    const webhooks = await listActiveWebhooks(database.db);
    watchEvents(webhooks.length > 0);
    const active = new Set(webhooks.map(({ id }) => id));
    for (const id of blocked) if (!active.has(id)) blocked.delete(id);
    counts.pending = webhooks.reduce((sum, { pending }) => sum + pending, 0);
    hasErrors = false;
    const hasMore = await createDeliveries(webhooks, versions.events, now);
    await sendDue(webhooks, now);
    const [next = null] = webhooks.flatMap((webhook) => nextDueAt(webhook, now, pollMs)).sort();
    seen = hasMore || hasErrors ? undefined : { version, nextDueAt: next };
    if (hasMore) wake();
  }

  let unwatch: (() => void) | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Watches for new events, but only while there are webhooks: without, a round per event would be wasted. */
  function watchEvents(isNeeded: boolean): void {
    if (isNeeded && timer) {
      unwatch ??= database.watchEvents(() => {
        soon ??= setTimeout(() => {
          soon = undefined;
          wake();
        }, eventDelayMs);
      });
    } else {
      unwatch?.();
      unwatch = undefined;
      clearTimeout(soon);
      soon = undefined;
    }
  }

  /** Sends due deliveries while there are free places, those that have waited longest first. */
  async function sendDue(webhooks: readonly ActiveWebhook[], now: string): Promise<void> {
    const sending = Map.groupBy(inFlight.keys(), ({ webhook_id }) => webhook_id);
    const due = webhooks
      .filter(({ due_at }) => due_at !== null && due_at <= now)
      .filter((webhook) => !isThrottled(webhook, now))
      .filter((webhook) => (sending.get(webhook.id)?.length ?? 0) < maxInFlightOf(webhook))
      .toSorted((a, b) => Date.parse(a.due_at ?? '') - Date.parse(b.due_at ?? ''));
    const pause = createPacer();
    for (const batch of chunk(due, webhooksPerClaim)) {
      const ready: ActiveWebhook[] = [];
      for (const webhook of batch) {
        await pause();
        const canSend = !blocked.has(webhook.id) || (await hasDue(database.db, webhook, now));
        if (canSend) ready.push(webhook);
      }
      if (isStopped || freePlaces() === 0) return;
      if (ready.length > 0) await sendClaimed(ready, now);
      await setImmediate();
    }
  }

  async function sendClaimed(ready: readonly ActiveWebhook[], now: string): Promise<void> {
    const claims = await database.write((db) => claimDue(db, ready, freePlaces(), now));
    const claiming = new Set(claims.map(({ webhook_id }) => webhook_id));
    for (const { id } of ready) claiming.has(id) ? blocked.delete(id) : blocked.add(id);
    const messages = await findMessages(database.db, claims, clock());
    for (const claim of claims) {
      const sending = attempt(claim, messages.get(claim.id))
        .catch(onError)
        .finally(() => {
          inFlight.delete(claim);
          wake();
        });
      inFlight.set(claim, sending);
    }
  }

  async function attempt(claim: Claim, message: Message | undefined): Promise<void> {
    const result = message ? await send(claim, message) : noMessage;
    const isOrdinary = message !== undefined && claim.payload === null;
    if (!abort.signal.aborted) await record({ claim, attempt: result, moment: clock(), isOrdinary });
  }

  async function send({ webhook_id, event_id, attempts }: Claim, message: Message): Promise<Attempt> {
    const span = tracing?.startRequest('POST', new URL(message.url), {
      'muster.webhook_id': webhook_id,
      'muster.event_id': event_id,
      ...(attempts > 0 && { 'http.request.resend_count': attempts }),
    });
    const headers = { ...message.headers, ...span?.headers };
    const result = await sender.send({ ...message, headers }, abort.signal);
    const { response_status, error_code } = result;
    const isFailure = response_status !== null && response_status >= 300;
    span?.end(response_status, error_code ?? (isFailure ? String(response_status) : undefined));
    return result;
  }

  const results: Result[] = [];
  /** Results that arrive during a transaction share the next one. */
  const flush = coalesced(async () => {
    for (const batch of chunk(results.splice(0), resultsPerWrite)) {
      const outcomes = await database.write((db) => recordResults(db, batch));
      for (const { status } of outcomes) counts[status === 'pending' ? 'retried' : status] += 1;
    }
  });
  const record = (result: Result) => {
    results.push(result);
    return flush();
  };

  // A request that wakes the dispatcher has nothing to do with what is due: its trace must not contain that.
  const runDetached = AsyncLocalStorage.snapshot();
  let isRequested = false;
  let running: Promise<void> | undefined;
  function wake(): void {
    isRequested = true;
    running ??= runDetached(runRounds).finally(() => {
      running = undefined;
      // Requested between the last round and now.
      if (isRequested && !isStopped) wake();
    });
  }
  async function runRounds(): Promise<void> {
    while (isRequested && !isStopped) {
      isRequested = false;
      await runRound().catch((error) => {
        seen = undefined;
        onError(error);
      });
    }
  }

  return {
    /** Looks for new events and due deliveries until `stop`. */
    start() {
      timer = setInterval(wake, pollMs);
      wake();
    },
    /** Looks at once, if started. */
    wake() {
      if (timer) wake();
    },
    rejection: sender.rejection,
    /** Takes one of the places for attempts in flight. Throws if none is free. Returns a function that frees it. */
    takePlace(): () => void {
      if (freePlaces() === 0)
        throw unavailable(`${maxInFlight} attempts of webhooks are in flight. Try again shortly.`, 5);
      takenPlaces++;
      return () => takenPlaces--;
    },
    /** Attempts a delivery that the caller has claimed. The caller has taken a place. */
    async deliver(claim: Claim): Promise<void> {
      await attempt(claim, (await findMessages(database.db, [claim], clock())).get(claim.id));
    },
    /** Resolves when nothing is due any more. */
    async drain(): Promise<void> {
      wake();
      while (running || inFlight.size > 0) {
        await running;
        if (inFlight.size > 0) await Promise.race(inFlight.values());
      }
    },
    /** Waits for attempts in flight for a short time, then leaves them to other instances or the next start. */
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(timer);
      timer = undefined;
      await running;
      watchEvents(false);
      await Promise.race([Promise.all(inFlight.values()), wait(maxStopMs, undefined, { ref: false })]);
      const claims = [...inFlight.keys()];
      abort.abort();
      sender.close();
      if (claims.length > 0) {
        await database.write((db) => releaseClaims(db, claims, clock().now)).catch(onError);
      }
    },
  };
}

const noMessage = noAttempt(
  'The event is no longer stored (MUSTER_EVENT_RETENTION_DAYS), or outside of the projects of the webhook.',
);

const isThrottled = ({ throttled_until }: ActiveWebhook, now: string) =>
  throttled_until !== null && throttled_until > now;

/** When to look at the webhook again, even if nothing changes. */
function nextDueAt({ due_at, throttled_until }: ActiveWebhook, now: string, pollMs: number): string[] {
  if (due_at === null) return [];
  const time = throttled_until !== null && throttled_until > due_at ? throttled_until : due_at;
  return [time > now ? time : momentOf(new Date(Date.parse(now) + pollMs)).now];
}
