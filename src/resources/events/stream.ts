import type { ServerResponse } from 'node:http';
import type { Actor } from '../../store/access/actors.ts';
import type { Tables } from '../../store/tables.ts';
import { type EventFilters, hasType, isReadable } from './queries.ts';

/** An event with what decides which streams get it. */
export type StreamedEvent = Pick<
  Tables['events'],
  'sequence' | 'type' | 'also' | 'subject_type' | 'subject_id' | 'project_id'
> & { json: string };

export type EndReason = 'too_slow' | 'key_changed' | 'access_changed' | 'events_lost' | 'service_stopping';

/** The response to one client that follows events. */
export type EventStream = ReturnType<typeof createEventStream>;

/** How long a client waits before it reconnects. */
const retryMs = 2_000;

/** How long the last message may take to be sent. */
const maxEndMs = 5_000;

/** Writes server-sent events to a response. */
export function createEventStream(
  response: ServerResponse,
  actor: Actor,
  secret: string,
  filters: EventFilters,
) {
  const { after = 0, types, subject, project } = filters;
  const isVisible = isReadable(actor);
  const matches = (event: StreamedEvent) =>
    // `after` can be beyond the position of the feed, if the client has read from an instance that is ahead.
    event.sequence > after &&
    isVisible(event) &&
    (!types || types.some((type) => hasType(event, type))) &&
    (!subject || subject === event.subject_id) &&
    (!project || project.some((id) => id === event.project_id));

  response.write(`retry: ${retryMs}\n\n`);
  return {
    actor,
    /** The key or session token, by which the feed finds out whether it still works. */
    secret,
    get unsentBytes(): number {
      return response.writableLength;
    },
    /** Sends the event if it matches. */
    send(event: StreamedEvent): void {
      if (matches(event)) response.write(messageOf(event));
    },
    /** Keeps the connection open. `position` is the number to continue with after a reconnect. */
    beat(position: number | undefined): void {
      // A client that is limited to projects must not learn from the number when others change.
      const id =
        position === undefined || actor.project_ids !== null ? '' : `id: ${Math.max(position, after)}\n`;
      response.write(`${id}: heartbeat\n\n`);
    },
    /** Resolves when all bytes are sent or the client is gone. */
    drained: () =>
      new Promise<void>((resolve) => {
        if (!response.writableNeedDrain || response.destroyed) return resolve();
        const done = () => {
          response.off('drain', done);
          response.off('close', done);
          resolve();
        };
        response.on('drain', done);
        response.on('close', done);
      }),
    end(reason: EndReason): void {
      response.end(
        `event: ${reason === 'too_slow' ? 'dropped' : 'closed'}\ndata: {"reason":"${reason}"}\n\n`,
      );
      setTimeout(() => response.destroy(), maxEndMs).unref();
    },
    /** Calls back when the client is gone, at once if it has left already. */
    onClosed(callback: () => void): void {
      if (response.destroyed) callback();
      else response.once('close', callback);
    },
  };
}

/** The message of an event, built once for all streams. */
function messageOf(event: StreamedEvent): string {
  const cached = messages.get(event);
  if (cached !== undefined) return cached;
  const { sequence, type, json } = event;
  const message = `id: ${sequence}\nevent: ${type}\ndata: ${json}\n\n`;
  messages.set(event, message);
  return message;
}

const messages = new WeakMap<StreamedEvent, string>();
