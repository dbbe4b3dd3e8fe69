import type { FastifyRequest } from 'fastify';
import { unavailable } from '../../core/errors.ts';
import type { Snapshot } from '../../database/open.ts';

type Client = { raw: { socket: Pick<FastifyRequest['raw']['socket'], 'destroyed'> } };

/** Throws if nobody waits for the response any more. */
export function assertConnected({ raw }: Client): void {
  if (raw.socket.destroyed) throw unavailable('The client has disconnected.', 1);
}

/**
 * The same snapshot, in which each statement fails once the client has disconnected. A read may have waited for its
 * connection, or have many statements, and others wait for its end.
 */
export const whileConnected = <Opened extends Snapshot>(request: Client, snapshot: Opened): Opened => ({
  ...snapshot,
  db: snapshot.db.withPlugin({
    transformQuery({ node }) {
      assertConnected(request);
      return node;
    },
    transformResult: async ({ result }) => result,
  }),
});
