import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createApp, type Service } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { type Clock, momentOf, systemClock } from '../src/core/clock.ts';
import { type Scope, scopes } from '../src/core/scopes.ts';
import type { Database } from '../src/database/open.ts';
import type { App } from '../src/http/fastify.ts';
import { createKey } from '../src/resources/keys/queries.ts';
import { storeConfiguredTimeZone } from '../src/resources/organization/queries.ts';
import { findPerson } from '../src/store/access/actors.ts';
import { startSession } from '../src/store/access/sessions.ts';
import { openDatabase } from '../src/store/open.ts';
import { storePasswords } from '../src/store/settings.ts';
import { bySystem } from '../src/store/writes/change.ts';
import { type Engine, hasTransaction, migratedDatabase, type TestDatabase } from './databases.ts';
import { failingDatabase } from './failing-database.ts';

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
  /** By default, requests wait for the work of a new day as long as it takes, however busy the machine is. */
  maxNewDayWaitMs?: number;
  /** Returns the URL through which to reach the database, such as that of a pooler. */
  via?: (url: string) => string;
};

const nothingLeft = {
  requests: { inFlight: 0, active: 0 },
  reservedBytes: 0,
  unsentBytes: 0,
  listReaders: 0,
  database: [] as string[],
};

/** What the service still counts, holds or waits for after it has been closed. */
function leftBehind(app: App, database: string[]): typeof nothingLeft {
  const { load, bodyBudgets, slowReaders, listSpool } = app;
  return {
    requests: { inFlight: load.inFlight, active: load.active },
    reservedBytes: Object.values(bodyBudgets).reduce((sum, { bytes }) => sum + bytes, 0),
    unsentBytes: slowReaders.unsentBytes,
    listReaders: listSpool.readers.size,
    database,
  };
}

/**
 * Lists the pools whose connections are in use, and an open transaction or snapshot. Waits up to two seconds for background
 * work, such as webhooks, to end.
 */
async function findDatabaseUse(database: Database, url: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const pools = Object.entries(database.pools()).filter(([, { used, waiting }]) => used + waiting > 0);
    const names = pools.map(([name]) => name);
    if (await hasTransaction(url)) names.push('open transaction');
    if (names.length === 0 || attempt === 200) return names;
    await setTimeout(10);
  }
}

/** What keeps a process alive and no test has of its own: timers, and the threads of SQLite. */
const handleTypes = ['Timeout', 'MessagePort'];

let runningServices = 0;
/** The number of handles of each type before the first service started. */
let handlesBefore: number[] | undefined;

/** Fails if an earlier test of the file has left a handle. After the last test, it would keep the process from ending. */
async function assertNoHandles(): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const active = process.getActiveResourcesInfo();
    const counts = handleTypes.map((type) => active.filter((one) => one === type).length);
    handlesBefore ??= counts;
    const left = handleTypes.filter((_, index) => (counts[index] ?? 0) > (handlesBefore?.[index] ?? 0));
    if (left.length === 0) return;
    assert.ok(attempt < 200, `An earlier test of this file left behind: ${left.join(', ')}`);
    // A closed handle is active until the event loop has turned.
    await setTimeout(10);
  }
}

/** A service together with a key that has these scopes, or all scopes. */
export async function withKey(started: Promise<TestService>, ...granted: Scope[]) {
  const service = await started;
  return { service, key: await service.key(...granted) };
}

/** The values of one field of each row, or of several fields as an array. `actor.name` is a field of a field. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its rows
export const pluck = (rows: readonly any[], ...fields: string[]): any[] =>
  rows.map((row) => {
    const values = fields.map((field) => field.split('.').reduce((value, name) => value?.[name], row));
    return values.length === 1 ? values[0] : values;
  });

export type TestService = Awaited<ReturnType<typeof startTestService>>;

export async function startTestService(
  t: Pick<TestContext, 'after'>,
  engine: Engine,
  {
    clock = systemClock,
    environment = {},
    webhooks = {},
    maxNewDayWaitMs = 60_000,
    target,
    via = (url) => url,
  }: Options = {},
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
  if (runningServices === 0) await assertNoHandles();
  runningServices += 1;
  const faults = failingDatabase(
    openDatabase(url, undefined, {
      prepare: config.database_prepare,
      maxConnections: config.database_pool,
    }),
  );
  const { database } = faults;
  if (config.time_zone) await storeConfiguredTimeZone(database, config.time_zone, clock());
  await storePasswords(database, config.passwords);
  const readiness = { state: 'ready' as const };
  const app = await createApp({ config, database, clock, readiness, webhooks, maxNewDayWaitMs });
  let databaseUse: string[] = [];
  // Runs before the database is closed, when all responses have ended.
  app.addHook('onClose', async () => {
    databaseUse = await findDatabaseUse(database, directUrl);
  });
  await app.listen({ host: config.host, port: config.port });
  t.after(async () => {
    await app.close();
    await drop();
    runningServices -= 1;
    assert.deepEqual(leftBehind(app, databaseUse), nothingLeft, 'The test left something behind.');
  });
  const { port } = app.server.address() as { port: number };
  const origin = `http://localhost:${port}`;

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
    /** Makes transactions fail. */
    faults,
    origin,
    url,
    call,
    get: (path: string, key?: string, headers?: Record<string, string>) =>
      call('GET', path, key, undefined, headers),
    post: (path: string, key: string | undefined, body: unknown, headers?: Record<string, string>) =>
      call('POST', path, key, body, headers),
    patch: (path: string, key: string | undefined, body: unknown, headers?: Record<string, string>) =>
      call('PATCH', path, key, body, headers),
    delete: (path: string, key?: string, headers?: Record<string, string>) =>
      call('DELETE', path, key, undefined, headers),
    /** Sends a file to a path. */
    upload: (path: string, key: string, file: string | Uint8Array, type = 'text/csv') =>
      call('POST', path, key, file, { 'content-type': type }),
    /** Returns the rows of a list; throws when the status is not 200. */
    async list(path: string, key: string) {
      const response = await call('GET', path, key);
      if (response.status !== 200)
        throw new Error(`GET ${path} returned ${response.status}: ${response.text}`);
      return response.body.data;
    },
    /** Creates a key with these scopes, or with all scopes. */
    key: (...granted: Scope[]) => createTestKey(granted),
    /** Starts a session of a person who has access. Returns its id, and the headers of a page that uses it. */
    async signIn(user_id: string, { hoursAgo = 0 }: { hoursAgo?: number } = {}) {
      const actor = await findPerson(database.db, user_id);
      assert.ok(actor, `${user_id} has no access.`);
      const at = momentOf(new Date(Date.parse(clock().now) - hoursAgo * 3_600_000));
      const { token, id } = await database.write((db) =>
        startSession(
          db,
          {
            user_id,
            key_id: null,
            way: 'password',
            address: '127.0.0.1',
            browser: 'A test',
            expires_at: new Date(Date.parse(clock().now) + 30 * 86_400_000).toISOString(),
          },
          { ...bySystem(at), user_id, name: actor.name },
        ),
      );
      const headers = {
        cookie: app.sessionCookie.set(token, at.now).split(';')[0] ?? '',
        'sec-fetch-site': 'same-origin',
      };
      return { id, token, headers };
    },
    /** Adds a person with access, signed in. */
    async member(granted: Scope[], project_ids: string[] | null = null, more: object = {}) {
      const key = await createTestKey([]);
      const input = { name: 'Member', email: `${randomUUID()}@example.com`, ...more };
      const person = (await call('POST', '/v1/personnel', key, input)).body;
      const path = `/v1/personnel/${person.user_id}/access`;
      const access = await call('PUT', path, key, { scopes: granted, project_ids });
      assert.equal(access.status, 200, access.text);
      return { ...person, ...(await this.signIn(person.user_id)) } as Record<
        'user_id' | 'id' | 'token' | 'email' | 'name',
        string
      > & {
        headers: Record<string, string>;
      };
    },
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
