import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createApp, type Service } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type Clock, systemClock } from '../src/core/clock.ts';
import { type Database, openDatabase } from '../src/database/open.ts';
import { storeTimeZone } from '../src/database/settings.ts';
import type { App } from '../src/http/fastify.ts';
import { createKey } from '../src/resources/keys/queries.ts';
import { type Scope, scopes } from '../src/resources/keys/schema.ts';
import { type Engine, migratedDatabase, type TestDatabase } from './databases.ts';

export { type Engine, freshDatabase } from './databases.ts';

type TestResponse = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the body
  body: any;
  text: string;
};

/** Runs the same tests on every engine; `start` starts a service on a fresh database. */
export function onBothEngines(name: string, tests: (start: Start, engine: Engine) => void): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    describe(`${name}, on ${engine}`, () =>
      tests((t, options) => startTestService(t, engine, options), engine));
  }
}

/** Runs tests of what does not depend on the engine, such as headers, on SQLite only. */
export function onSqlite(name: string, tests: (start: Start) => void): void {
  describe(name, () => tests((t, options) => startTestService(t, 'sqlite', options)));
}

export type Start = (t: Pick<TestContext, 'after'>, options?: Options) => Promise<TestService>;
type Options = {
  clock?: Clock;
  environment?: Record<string, string>;
  webhooks?: Service['webhooks'];
  /** An existing database; by default each service gets a new one. */
  target?: TestDatabase;
  /** Returns the URL through which to reach the database, such as that of a pooler. */
  via?: (url: string) => string;
};

const nothingLeft = {
  requests: { inFlight: 0, active: 0 },
  reservedBytes: 0,
  unsentBytes: 0,
  listReaders: 0,
  connectionsInUse: [] as string[],
};

/** What the service still counts, holds or waits for after it has been closed. */
function leftBehind(app: App, pools: Record<string, { used: number; waiting: number }>): typeof nothingLeft {
  const { load, bodyBudgets, slowReaders, listSpool } = app;
  return {
    requests: { inFlight: load.inFlight, active: load.active },
    reservedBytes: Object.values(bodyBudgets).reduce((sum, { bytes }) => sum + bytes, 0),
    unsentBytes: slowReaders.unsentBytes,
    listReaders: listSpool.readers.size,
    connectionsInUse: Object.entries(pools)
      .filter(([, { used, waiting }]) => used + waiting > 0)
      .map(([name]) => name),
  };
}

/** Waits a moment for background work, such as webhooks, to return its connections. Snapshots and transactions use one. */
async function settledPools(database: Database) {
  const inUse = () => Object.values(database.pools()).some(({ used, waiting }) => used + waiting > 0);
  for (let i = 0; i < 200 && inUse(); i++) await setTimeout(10);
  return database.pools();
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;

export async function startTestService(
  t: Pick<TestContext, 'after'>,
  engine: Engine,
  { clock = systemClock, environment = {}, webhooks = {}, target, via = (url) => url }: Options = {},
) {
  const { url: directUrl, drop } = target ?? (await migratedDatabase(engine));
  const url = via(directUrl);
  const config = readConfig({
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_LOG_LEVEL: 'silent',
    MUSTER_RATE_LIMIT: '0',
    MUSTER_FAILED_AUTH_LIMIT: '0',
    ...environment,
  });
  const database = openDatabase(url, undefined, {
    prepare: config.database_prepare,
    maxConnections: config.database_pool,
  });
  if (config.time_zone) await storeTimeZone(database, config.time_zone);
  const readiness = { state: 'ready' as const };
  const app = await createApp({ config, database, clock, readiness, webhooks });
  let pools: Record<string, { used: number; waiting: number }> = {};
  // Runs before the database is closed, when all responses have ended.
  app.addHook('onClose', async () => {
    pools = await settledPools(database);
  });
  await app.listen({ host: config.host, port: config.port });
  t.after(async () => {
    await app.close();
    await drop();
    assert.deepEqual(leftBehind(app, pools), nothingLeft, 'The test left something behind.');
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
    const received: TestResponse = {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
    return received;
  }

  async function createTestKey(granted: Scope[], project_ids: string[] | null = null): Promise<string> {
    const input = { name: granted.join(' ') || 'all', scopes: granted.length > 0 ? granted : [...scopes] };
    const { secret } = await database.write((db) => createKey(db, { ...input, project_ids }, clock()));
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
    /** Creates a key with these scopes, or with all scopes. */
    key: (...granted: Scope[]) => createTestKey(granted),
    /** Creates a key that is limited to these projects. */
    limitedKey: (projects: string[], ...granted: Scope[]) => createTestKey(granted, projects),
    /** Creates a resource and returns it; throws when the status is not 201. */
    async make(path: string, key: string, body: unknown) {
      const response = await call('POST', path, key, body);
      if (response.status !== 201)
        throw new Error(`POST ${path} returned ${response.status}: ${response.text}`);
      return response.body;
    },
  };
}
