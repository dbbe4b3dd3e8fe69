import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type Received = {
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the event
  event: any;
};

/** A receiver of webhooks on 127.0.0.1. It records requests, and responds with 204 by default. */
export async function startReceiver(
  t: Pick<TestContext, 'after'>,
  respond: (response: ServerResponse, received: Received) => void = (response) =>
    response.writeHead(204).end(),
) {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer(async (request, response) => {
    const text = (await request.setEncoding('utf8').toArray()).join('');
    const message = { headers: request.headers, text, event: JSON.parse(text) };
    received.push(message);
    respond(response, message);
    for (const check of waiting) check();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    /** Resolves when this many messages have arrived. */
    async receive(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => received.length >= count && resolve();
      waiting.push(check);
      check();
      await promise;
    },
  };
}
