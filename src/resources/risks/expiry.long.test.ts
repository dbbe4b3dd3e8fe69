import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type Start, type TestService, withKey } from '../../../test/service.ts';
import { daysLater } from '../../core/clock.ts';
import { expireAcceptances } from '../../jobs/acceptances.ts';

onBothEngines('acceptances expire', (start, engine) => {
  /** The status of the one risk in each response. */
  const responses: Record<string, (body: Body) => unknown> = {
    '/v1/risks': (body) => body.data[0].status,
    '/v1/risks?limit=10': (body) => body.data[0].status,
    '/v1/risks?status=open': (body) => body.data[0]?.status,
    '/v1/risks/summary': (body) => body.data.by_status[0].status,
    '/v1/risks/heatmap?status=open': (body) => (/"count":1/.test(JSON.stringify(body)) ? 'open' : 'accepted'),
    '/v1/projects/APOLLO/risks': (body) => body.data[0].status,
    '/v1/projects/APOLLO/risks/APOLLO-R1': (body) => body.status,
  };

  test('in the first response of the next day, whichever it is', async (t) => {
    const { service, key, clock, accept } = await begin(t, start);
    for (const [path, statusIn] of Object.entries(responses)) {
      const until = await accept();
      clock.set(`${until}T23:59:59.999Z`);
      // The third response comes from the cache.
      const before = [];
      for (let i = 0; i < 3; i++) before.push(await service.get(path, key));
      for (const { body } of before) assert.notEqual(statusIn(body), 'open', path);
      clock.set(`${daysLater(until, 1)}T00:00:00.000Z`);
      const etag = before[2]?.headers.get('etag') ?? '';
      const { status, body } = await service.get(path, key, { 'if-none-match': etag });
      assert.deepEqual([status, statusIn(body)], [200, 'open'], path);
    }
  });

  test('in the first response of each instance, and for requests that arrive together', async (t) => {
    const { service, key, clock, accept } = await begin(t, start);
    const other = await start(t, { clock, target: { url: service.url, drop: async () => {} } });
    const statuses = (instance: TestService) =>
      Promise.all(Array.from({ length: 10 }, async () => (await instance.list('/v1/risks', key))[0].status));
    const all = async () => (await Promise.all([statuses(service), statuses(other)])).flat();
    const until = await accept();
    assert.deepEqual(new Set(await all()), new Set(['accepted']));
    clock.set(`${daysLater(until, 1)}T00:00:00.000Z`);
    assert.deepEqual(new Set(await all()), new Set(['open']));
    const risk = '/v1/projects/APOLLO/risks/APOLLO-R1';
    const { accepted_until, acceptance_reason, version } = (await service.get(risk, key)).body;
    assert.deepEqual([accepted_until, acceptance_reason, version], [null, null, 3]);
    const history: Body[] = await service.list(`${risk}/history`, key);
    const expired = history.filter(({ field, to }) => field === 'status' && to === 'open');
    assert.deepEqual(pluck(expired, 'from', 'actor.type', 'actor.name', 'reason'), [
      ['accepted', 'service', 'Muster', `Accepted only until ${until}.`],
    ]);
  });

  test('many of them, in several transactions that do not block the event loop', async (t) => {
    const { service, key, clock } = await begin(t, start);
    await acceptMany(service, key);
    clock.set('2026-11-21T00:00:00.000Z');
    const workloads: unknown[] = [];
    await expireAcceptances(
      {
        db: service.database.db,
        write(work, workload) {
          workloads.push(workload);
          return service.database.write(work, workload);
        },
      },
      clock(),
    );
    assert.deepEqual(workloads, ['bulk', 'bulk', 'bulk']);
    const data = await service.list('/v1/risks?status=accepted', key);
    assert.equal(data.length, 0);
  });

  test('in the background if there are too many to wait for', async (t) => {
    const { service, key, clock } = await begin(t, start, { maxNewDayWaitMs: 1 });
    await acceptMany(service, key);
    const countAccepted = async () => (await service.list('/v1/risks?status=accepted', key)).length;
    const acceptances = async () => (await service.get('/readyz?verbose')).body.checks[2];
    const metric = async () =>
      (await service.get('/metrics', key)).text.match(/^muster_acceptances_expired (\d+)$/m)?.[1];
    const logged = t.mock.method(service.app.log, 'warn');
    const batches = holdBatches(t, service);
    clock.set('2026-11-21T00:00:00.000Z');
    assert.equal(await countAccepted(), 250);
    assert.deepEqual(await acceptances(), { name: 'acceptances', status: 'ok' });
    await batches.release();
    await batches.next();
    assert.equal(await countAccepted(), 150);
    assert.match((await acceptances()).detail, /^150 risks/);
    assert.equal(await metric(), '150');
    for (let i = 0; i < 2; i++) await batches.release();
    while ((await metric()) !== '0') await setTimeout(5);
    assert.equal(await countAccepted(), 0);
    const lines = logged.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.match(lines[0] ?? '', /^150 risks whose acceptance has expired/);
    assert.match(lines.at(-1) ?? '', /^All risks whose acceptance/);
  });

  test('after the response to the unarchiving of a project with many', async (t) => {
    const { service, key, clock } = await begin(t, start, { maxNewDayWaitMs: 1 });
    await acceptMany(service, key);
    await service.post('/v1/projects/APOLLO/archive', key, {});
    clock.set('2026-11-21T00:00:00.000Z');
    await service.get('/v1/risks', key);
    const batches = holdBatches(t, service, 1);
    const { status, body } = await service.post('/v1/projects/APOLLO/unarchive', key, {});
    assert.deepEqual([status, body.archived_at], [200, null]);
    assert.equal((await service.list('/v1/risks?status=accepted', key)).length, 150);
    for (let i = 0; i < 2; i++) await batches.release();
    assert.equal((await service.list('/v1/risks?status=accepted', key)).length, 0);
    const history: Body[] = await service.list('/v1/projects/APOLLO/risks/APOLLO-R2/history', key);
    assert.equal(history.filter(({ field, to }) => field === 'status' && to === 'open').length, 1);
  });

  test('when their project comes back from the archive', async (t) => {
    const { service, key, clock, accept } = await begin(t, start);
    const until = await accept();
    await service.post('/v1/projects/APOLLO/archive', key, {});
    clock.set(`${daysLater(until, 1)}T00:00:00.000Z`);
    const archived = await service.get('/v1/projects/APOLLO/risks/APOLLO-R1', key);
    assert.equal(archived.body.status, 'accepted');
    assert.equal((await service.post('/v1/projects/APOLLO/unarchive', key, {})).status, 200);
    assert.equal((await service.get('/v1/projects/APOLLO/risks/APOLLO-R1', key)).body.status, 'open');
  });

  test('a failed write of the expiry does not block other requests', async (t) => {
    const { service, key, clock, accept } = await begin(t, start);
    const until = await accept();
    await service.database.write(async (db) => {
      for (const statement of rejectChangesOfRisks[engine]) await sql.raw(statement).execute(db);
    });
    clock.set(`${daysLater(until, 1)}T00:00:00.000Z`);
    assert.equal((await service.get('/v1/risks', key)).status, 200);
    assert.equal((await service.post('/v1/personnel', key, { name: 'Ada' })).status, 201);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the tests assert the shape of the body
type Body = any;

const rejectChangesOfRisks = {
  sqlite: [`create trigger refuse before update on risks begin select raise(abort, 'refused'); end`],
  postgres: [
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
    'create trigger refuse before update on risks for each row execute function refuse()',
  ],
};

/** Adds 250 risks that are accepted until 20 November. */
async function acceptMany({ upload, database }: TestService, key: string): Promise<void> {
  const rows = Array.from({ length: 250 }, (_, i) => `Many ${i}\n`);
  const { body } = await upload('/v1/projects/APOLLO/risks/import', key, `title\n${rows.join('')}`);
  assert.equal(body.summary.created, rows.length, JSON.stringify(body).slice(0, 500));
  const accepted = {
    status: 'accepted',
    acceptance_reason: 'Insured.',
    accepted_until: '2026-11-20',
  } as const;
  await database.write((db) =>
    db.updateTable('risks').set(accepted).where('title', 'like', 'Many %').execute(),
  );
}

/** Bulk writes wait until they are released, except the first ones. */
function holdBatches(t: TestContext, { database }: TestService, free = 0) {
  const { write } = database;
  let held: { release(): void; written: Promise<unknown> } | undefined;
  t.mock.method(database, 'write', async (...args: Parameters<typeof write>) => {
    if (args[1] !== 'bulk' || free-- > 0) return write(...args);
    const released = Promise.withResolvers<void>();
    const written = released.promise.then(() => write(...args));
    held = { release: released.resolve, written };
    return written;
  });
  /** Resolves when the next one waits. */
  async function next() {
    while (!held) await setTimeout(5);
    return held;
  }
  return {
    next,
    /** Lets the next one run to its end. */
    async release(): Promise<void> {
      const { release, written } = await next();
      held = undefined;
      release();
      await written;
    },
  };
}

/** A service with one risk. */
async function begin(t: Parameters<Start>[0], start: Start, options: Parameters<Start>[1] = {}) {
  const clock = settableClock('2026-11-15T12:00:00Z');
  const { service, key } = await withKey(start(t, { clock, ...options }));
  await service.make('/v1/projects', key, { name: 'Apollo' });
  await service.make('/v1/projects/APOLLO/risks', key, { title: 'Valves', probability: 2, impact: 2 });
  return {
    service,
    key,
    clock,
    /** Accepts the risk; returns the last day of the acceptance. */
    async accept() {
      const accepted_until = daysLater(clock().today, 5);
      const body = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until };
      const { status } = await service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, body);
      assert.equal(status, 200);
      return accepted_until;
    },
  };
}
