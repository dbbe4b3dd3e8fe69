import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../core/errors.ts';
import { nextSliceRows } from '../../database/sql/lines.ts';
import { type Versions, versionOf } from '../../database/versions.ts';
import { actorError } from '../../http/auth/auth.ts';
import type { App } from '../../http/fastify.ts';
import { logBackgroundError } from '../../http/ops/logging.ts';
import type { Actor } from '../../store/access/actors.ts';
import type { Tables } from '../../store/tables.ts';
import { eventJson } from './queries.ts';
import type { EndReason, EventStream, StreamedEvent } from './stream.ts';

/** Events per query: few at first, because their length is unknown then. */
const firstRows = 8;
const maxRows = 100;

/** A stream that has more unsent bytes than this for `maxStallMs` is closed. */
const maxUnsentBytes = 64 * 1024;
const maxStallMs = 1_000;

const heartbeatMs = 15_000;
const maxStreams = 2_000;
const maxStreamsPerActor = 200;

/** How often the feed checks whether a key or session has expired. Other changes wake it at once. */
const expiryCheckMs = 1_000;

/** How many streams read the past at the same time. */
const maxCatchingUp = 4;

/** Reads new events once for all streams of this process. It runs only while there are streams. */
export function createEventFeed(app: App) {
  const { database, clock, endlessResponses } = app;
  const streams = new Set<EventStream>();
  /** The streams that are not in `streams` yet. */
  const starting = new Set<EventStream>();
  /** The streams that have all events up to `position`. The others are catching up. */
  const live = new Set<EventStream>();
  /** The streams whose access may have changed between authentication and the start of the stream. */
  const unchecked = new Set<EventStream>();
  let position = 0;
  let accessVersion = 0;
  /** The last event that was lost in a failover, when the feed looked last. */
  let lostUntil = 0;
  const idleMs = app.config.session_idle_days * 86_400_000;
  let catchingUp = 0;
  let stop: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let isAgain = false;
  let isStopping = false;

  function wake(): void {
    isAgain = true;
    running ??= run().finally(() => {
      running = undefined;
      // Requested between the last round and now.
      if (isAgain && streams.size > 0) wake();
    });
  }

  async function run(): Promise<void> {
    try {
      while (isAgain && streams.size > 0) {
        isAgain = false;
        const versions = await database.versions();
        // Clients reconnect. Those that have seen lost events get an error.
        if (versions.lost_until !== lostUntil) for (const stream of streams) end(stream, 'events_lost');
        lostUntil = versions.lost_until;
        await closeChanged(versions);
        await deliver(versions.events);
      }
    } catch (error) {
      // The next wake-up tries again.
      logBackgroundError(app, error);
    }
  }

  async function deliver(latest: number): Promise<void> {
    for (let rows = firstRows; position < latest; ) {
      const events = await readEvents(database.db, position, latest, rows);
      for (const slice of slicesOf(events)) {
        for (const event of slice) for (const stream of live) stream.send(event);
        position = slice.at(-1)?.sequence ?? position;
        await closeSlow();
      }
      if (events.length < rows) position = latest;
      rows = nextRows(events);
      // SQLite reads in this thread, and nothing is sent of events that no stream matches.
      await setImmediate();
    }
  }

  /**
   * Any change of a key, a session or the access of a person closes its streams: it may have been revoked or limited.
   * Clients reconnect.
   */
  async function closeChanged(versions: Versions): Promise<void> {
    closeExpired();
    const version = versionOf(versions, ['keys', 'access']);
    const candidates = [...(version === accessVersion ? unchecked : streams)];
    for (const [secret, group] of Map.groupBy(candidates, (stream) => stream.secret)) {
      const current = await app.actorCache.find(secret, versions, clock());
      for (const stream of group) {
        unchecked.delete(stream);
        const isChanged = current?.stamp !== stream.actor.stamp || current.ended !== null;
        if (isChanged && streams.has(stream)) end(stream, changeOf(stream));
      }
    }
    accessVersion = version;
  }

  function closeExpired(): void {
    const moment = clock();
    for (const stream of streams)
      if (actorError(stream.actor, moment, idleMs) !== undefined) end(stream, changeOf(stream));
  }

  /** Sends a stream the events that were committed before it is live. */
  async function catchUp(stream: EventStream, after: number): Promise<void> {
    let next = { read: after, rows: firstRows };
    while (streams.has(stream)) {
      while (catchingUp >= maxCatchingUp && streams.has(stream)) await setTimeout(10);
      next = await sendPast(stream, next);
      // As in `deliver`.
      await setImmediate();
      // A client that does not read loses its connection: see `closeSlowReaders`.
      await stream.drained();
      // No event can have been delivered since, because nothing is awaited in between.
      if (next.read >= position) {
        if (streams.has(stream)) live.add(stream);
        return;
      }
    }
  }

  /** Sends the next events of the past. Not a part of `catchUp`, which would keep them in memory until they are read. */
  async function sendPast(stream: EventStream, { read, rows }: { read: number; rows: number }) {
    const target = position;
    catchingUp++;
    const events = await readEvents(database.db, read, target, rows).finally(() => catchingUp--);
    const [sendable = []] = slicesOf(events);
    // The stream may have ended during the query.
    if (streams.has(stream)) for (const event of sendable) stream.send(event);
    const isAll = sendable.length === events.length && events.length < rows;
    return {
      read: isAll ? Math.max(read, target) : (sendable.at(-1)?.sequence ?? target),
      rows: nextRows(events),
    };
  }

  function end(stream: EventStream, reason: EndReason): void {
    remove(stream);
    stream.end(reason);
  }

  function remove(stream: EventStream): void {
    streams.delete(stream);
    live.delete(stream);
    unchecked.delete(stream);
    if (streams.size > 0) return;
    stop?.();
    stop = undefined;
  }

  async function closeSlow(): Promise<void> {
    const isSlow = (stream: EventStream) => live.has(stream) && stream.unsentBytes > maxUnsentBytes;
    const slow = [...live].filter(isSlow);
    if (slow.length === 0) return;
    await Promise.race([
      Promise.all(slow.map((stream) => stream.drained())),
      setTimeout(maxStallMs, undefined, { ref: false }),
    ]);
    for (const stream of slow.filter(isSlow)) end(stream, 'too_slow');
  }

  async function findPosition(): Promise<void> {
    const versions = await database.versions();
    // Other streams may have come and gone meanwhile: their last round still moves the position.
    while (running) await running;
    if (streams.size > 0) return;
    position = Math.max(position, versions.events);
    lostUntil = versions.lost_until;
  }

  function resume(): void {
    const heartbeat = setInterval(() => {
      for (const stream of streams) stream.beat(live.has(stream) ? position : undefined);
    }, heartbeatMs);
    const expiryCheck = setInterval(closeExpired, expiryCheckMs);
    const unwatch = database.watchEvents(wake);
    stop = () => {
      clearInterval(heartbeat);
      clearInterval(expiryCheck);
      unwatch();
    };
  }

  endlessResponses.add(() => {
    isStopping = true;
    for (const stream of streams) end(stream, 'service_stopping');
  });

  return {
    /** Throws if there are too many streams, in total or of this key or person. */
    assertRoom({ id }: Actor): void {
      const headers = { 'retry-after': '10' };
      const all = [...streams, ...starting];
      if (all.length >= maxStreams) {
        const detail = 'Too many clients follow events. Try again later, or read /v1/events.';
        throw new Problem('unavailable', detail, { headers });
      }
      const own = all.filter(({ actor }) => actor.id === id).length;
      if (own >= maxStreamsPerActor) {
        const detail = `You have ${own} event streams open, the most that one key or person can have. Close some of them.`;
        throw new Problem('rate_limited', detail, { headers });
      }
    },

    /** Sends the events after this number, or from now on, until the stream ends. */
    async follow(stream: EventStream, after: number | undefined): Promise<void> {
      if (streams.size === 0) {
        starting.add(stream);
        await findPosition().finally(() => starting.delete(stream));
      }
      // Streams that start from now on would never end, and the shutdown would wait for them.
      if (isStopping) return stream.end('service_stopping');
      streams.add(stream);
      unchecked.add(stream);
      stream.onClosed(() => remove(stream));
      if (!streams.has(stream)) return;
      if (!stop) resume();
      wake();
      await catchUp(stream, after ?? position);
    },
  };
}

const changeOf = ({ actor }: EventStream): EndReason =>
  actor.key_id === null ? 'access_changed' : 'key_changed';

/** Splits events so that a stream gets about `maxUnsentBytes` before the feed checks whether it keeps up. */
function slicesOf(events: readonly StreamedEvent[]): StreamedEvent[][] {
  const slices: StreamedEvent[][] = [];
  let length = maxUnsentBytes;
  for (const event of events) {
    if (length >= maxUnsentBytes) {
      slices.push([]);
      length = 0;
    }
    slices.at(-1)?.push(event);
    length += event.json.length;
  }
  return slices;
}

const nextRows = (events: readonly StreamedEvent[]) =>
  nextSliceRows(
    events.map(({ json }) => json),
    maxRows,
  );

const readEvents = async (
  db: Kysely<Tables>,
  after: number,
  latest: number,
  rows: number,
): Promise<StreamedEvent[]> =>
  db
    .selectFrom('events')
    .select(['sequence', 'type', 'also', 'subject_type', 'subject_id', 'project_id', eventJson.as('json')])
    .where('sequence', '>', after)
    .where('sequence', '<=', latest)
    .orderBy('sequence')
    .limit(rows)
    .execute();
