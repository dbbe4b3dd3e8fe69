import { describe, type TestContext } from 'node:test';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type Clock, systemClock } from '../src/core/clock.ts';
import { openDatabase } from '../src/database/open.ts';
import { createKey } from '../src/resources/keys/queries.ts';
import { type Scope, scopes } from '../src/resources/keys/schema.ts';
import { type Engine, migratedDatabase } from './databases.ts';

export { type Engine, freshDatabase } from './databases.ts';

type Answer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of the body
  body: any;
  text: string;
};

/** Runs the same tests on every engine; `start` gives each test a service on a fresh database. */
export function onBothEngines(name: string, tests: (start: Start, engine: Engine) => void): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    describe(`${name}, on ${engine}`, () =>
      tests((t, options) => startTestService(t, engine, options), engine));
  }
}

export type Start = (t: Pick<TestContext, 'after'>, options?: Options) => Promise<TestService>;
type Options = { clock?: Clock; environment?: Record<string, string> };

export type TestService = Awaited<ReturnType<typeof startTestService>>;

export async function startTestService(
  t: Pick<TestContext, 'after'>,
  engine: Engine,
  { clock = systemClock, environment = {} }: Options = {},
) {
  const { url, drop } = await migratedDatabase(engine);
  const config = readConfig({
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_LOG_LEVEL: 'silent',
    MUSTER_RATE_LIMIT: '0',
    MUSTER_FAILED_AUTH_LIMIT: '0',
    ...environment,
  });
  const database = openDatabase(url);
  const readiness = { state: 'ready' as const };
  const app = await createApp({ config, database, clock, readiness });
  await app.listen({ host: config.host, port: config.port });
  t.after(async () => {
    await app.close();
    await drop();
  });
  const { port } = app.server.address() as { port: number };
  const origin = `http://127.0.0.1:${port}`;

  async function call(
    method: string,
    path: string,
    key?: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    } as RequestInit);
    const text = await response.text();
    const isJson =
      response.headers.get('content-type')?.includes('json') &&
      !response.headers.get('content-type')?.includes('ndjson');
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
    return answer;
  }

  async function makeKey(held: Scope[], project_ids: string[] | null = null): Promise<string> {
    const named = { name: held.join(' ') || 'all', scopes: held.length > 0 ? held : [...scopes] };
    const { secret } = await database.write((db) => createKey(db, { ...named, project_ids }, clock()));
    return secret;
  }

  return {
    app,
    database,
    origin,
    url,
    call,
    get: (path: string, key?: string, headers?: Record<string, string>) =>
      call('GET', path, key, undefined, headers),
    post: (path: string, key: string | undefined, body: unknown, headers?: Record<string, string>) =>
      call('POST', path, key, body, headers),
    /** A key with these scopes; all of them when none is named. */
    key: (...held: Scope[]) => makeKey(held),
    /** The same, limited to these projects. */
    limitedKey: (projects: string[], ...held: Scope[]) => makeKey(held, projects),
    /** Posts a body that must be taken, and gives the resource made. */
    async make(path: string, key: string, body: unknown) {
      const answer = await call('POST', path, key, body);
      if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
      return answer.body;
    },
  };
}
