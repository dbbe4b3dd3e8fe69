import { request as openRequest } from 'node:http';
import type { TestService } from './service.ts';

type Response = { status: number; body: { code: string } };

/** Sends the head of a request, runs `meanwhile` when the service has read who sends it, and then sends the body. */
export async function sendLate(
  { app, origin }: TestService,
  [method, path, body]: readonly [string, string, object],
  headers: Record<string, string>,
  meanwhile: () => Promise<unknown>,
): Promise<Response> {
  const { authenticate } = app;
  const authenticated = Promise.withResolvers<void>();
  app.authenticate = async (request, secret) => {
    const actor = await authenticate(request, secret);
    authenticated.resolve();
    return actor;
  };
  const text = JSON.stringify(body);
  const request = openRequest(`${origin}${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  });
  const response = new Promise<Response>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (message) => {
      let received = '';
      for await (const chunk of message) received += chunk;
      resolve({ status: message.statusCode ?? 0, body: received === '' ? undefined : JSON.parse(received) });
    });
  });
  request.flushHeaders();
  await authenticated.promise;
  app.authenticate = authenticate;
  await meanwhile();
  request.end(text);
  return response;
}
