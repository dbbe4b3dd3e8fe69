import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { startTestService, type TestService } from '../../../test/service.ts';
import { daysLater, momentOf, systemClock } from '../../core/clock.ts';
import { expireAcceptances } from '../../jobs/acceptances.ts';
import { deleteExpiredSignIns } from '../../jobs/retention.ts';
import { type Actor, findActor } from '../../store/access/actors.ts';
import { createLink } from '../../store/access/links.ts';
import { foldRecent } from '../../store/folds.ts';

/*
 * A transaction that waits for a lock must hold none that comes later in the order of ARCHITECTURE.md. Otherwise another
 * one, which holds the first and wants the second, would wait for it in turn. Each test holds a lock on a connection of
 * its own, starts a write that waits for it, and tries to take the later one.
 */

type Prepared = Awaited<ReturnType<typeof prepare>>;

type Case = {
  /** The statement that takes the lock that the write has to wait for. */
  held: (prepared: Prepared) => string;
  write: (prepared: Prepared) => Promise<{ status: number; text: string }>;
  /** The statement that takes a later lock. */
  later: (prepared: Prepared) => string;
};

const row = (table: string, id: string) =>
  `select 1 from ${table} where ${table === 'people' ? 'user_id' : 'id'} = '${id}' for no key update nowait`;
const versionOf = (table: string) =>
  `select 1 from data_versions where table_name = '${table}' for no key update nowait`;
const tableLock = (table: string) => `select pg_advisory_xact_lock(hashtext('${table}'))`;
const lines = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');
const ndjson = { 'content-type': 'application/x-ndjson' };

const firstProject = ({ first }: Prepared) => row('projects', first.id);
const secondProject = ({ second }: Prepared) => row('projects', second.id);
const lockOfAccess = () => tableLock('access');
const sessionOf = ({ member }: Prepared) => row('sessions', member.id);

const cases: Record<string, Case> = {
  'a hand-over': {
    held: firstProject,
    write: ({ service, key, ada, bob }) =>
      service.post(`/v1/personnel/${ada}/deactivate`, key, { handover_to_user_id: bob }),
    later: secondProject,
  },
  'a bulk change': {
    held: firstProject,
    write: ({ service, key, first, second }) =>
      service.post('/v1/bulk/tasks', key, {
        items: [{ id: second.task }, { id: first.task }],
        changes: { title: 'y' },
      }),
    later: secondProject,
  },
  'an import into several projects': {
    held: firstProject,
    write: ({ service, key, first, second }) =>
      service.post('/v1/imports/tasks', key, tasksOf(second, first), ndjson),
    later: secondProject,
  },
  'an atomic import into several projects': {
    held: firstProject,
    write: ({ service, key, first, second }) =>
      // More rows than a batch has.
      service.post(
        '/v1/imports/tasks?atomic=true',
        key,
        tasksOf(...Array(30).fill(second), ...Array(30).fill(first)),
        ndjson,
      ),
    later: secondProject,
  },
  'an import of projects': {
    held: firstProject,
    write: ({ service, key, first, second }) =>
      service.post(
        '/v1/projects/import?mode=upsert',
        key,
        lines({ id: second.id, description: 'y' }, { id: first.id, description: 'y' }),
        ndjson,
      ),
    later: secondProject,
  },
  'an import of people': {
    held: () => tableLock('people'),
    write: ({ service, key, ada, bob }) =>
      service.post(
        '/v1/personnel/import?mode=upsert',
        key,
        lines({ user_id: ada, title: 'y' }, { user_id: bob, manager_user_id: ada }),
        ndjson,
      ),
    later: ({ ada }) => row('people', ada),
  },
  'an import of groups': {
    held: () => tableLock('memberships'),
    write: ({ service, key, group, ada }) =>
      service.post(
        '/v1/groups/import?mode=upsert',
        key,
        lines({ id: group, description: 'y', member_user_ids: [ada] }),
        ndjson,
      ),
    later: ({ group }) => row('groups', group),
  },
  'the expiry of an acceptance': {
    held: firstProject,
    async write({ service, first }) {
      await expireAcceptances(service.database, systemClock());
      const { rows } = await service.sql(`select status from risks where id = '${first.risk}'`);
      return { status: rows[0].status === 'open' ? 200 : 500, text: JSON.stringify(rows) };
    },
    later: ({ first }) => row('risks', first.risk),
  },
  'a write without events': {
    held: () => versionOf('events'),
    async write({ service }) {
      await service.database.write(async (db) => {
        await db.updateTable('views').set({ name: 'x' }).execute();
        await db.updateTable('webhooks').set({ failures: 0 }).execute();
      });
      return { status: 200, text: '' };
    },
    later: () => versionOf('webhooks'),
  },
  'signing in': {
    held: lockOfAccess,
    write: async ({ service, member, office }) =>
      saved(await service.post('/v1/session', undefined, { key: office.secret }, member.headers)),
    later: sessionOf,
  },
  'signing out': {
    held: lockOfAccess,
    write: async ({ service, member }) =>
      saved(await service.delete('/v1/session', undefined, member.headers)),
    later: sessionOf,
  },
  'signing out everywhere': {
    held: lockOfAccess,
    write: async ({ service, member }) =>
      saved(await service.delete('/v1/sessions', undefined, member.headers)),
    later: sessionOf,
  },
  'the end of a session': {
    held: lockOfAccess,
    write: async ({ service, key, member }) => saved(await service.delete(`/v1/sessions/${member.id}`, key)),
    later: sessionOf,
  },
  'the end of access': {
    held: lockOfAccess,
    write: async ({ service, key, member }) =>
      saved(await service.delete(`/v1/personnel/${member.user_id}/access`, key)),
    later: sessionOf,
  },
  'the rotation of a key': {
    held: lockOfAccess,
    write: ({ service, key, office }) => service.post(`/v1/keys/${office.id}/rotate`, key, {}),
    later: ({ office }) => row('keys', office.id),
  },
  'folding again': {
    held: firstProject,
    async write({ service, group, first }) {
      await service.sql(`update groups set name_folded = 'x' where id = '${group}'`);
      await service.sql(`update tasks set search_folded = 'x' where id = '${first.task}'`);
      await foldRecent(service.database, systemClock(), 0);
      return { status: 200, text: '' };
    },
    later: () => versionOf('groups'),
  },
  'storing when sessions were used': {
    held: lockOfAccess,
    async write({ service, member }) {
      await service.sql("update sessions set last_seen_at = '2026-01-01T00:00:00.000Z'");
      service.app.usage.recordUse(await actorOf(service, member.token), systemClock());
      await service.app.usage.flush();
      return { status: 200, text: '' };
    },
    later: sessionOf,
  },
  'storing when keys were used': {
    held: lockOfAccess,
    async write({ service, office }) {
      service.app.usage.recordUse(await actorOf(service, office.secret), systemClock());
      await service.app.usage.flush();
      return { status: 200, text: '' };
    },
    later: ({ office }) => row('keys', office.id),
  },
  'deleting what has expired': {
    held: lockOfAccess,
    async write({ service }) {
      await deleteExpiredSignIns(service.database, momentOf(new Date('2030-01-01')), 7);
      const { rows } = await service.sql('select id from sessions');
      return { status: rows.length === 0 ? 200 : 500, text: JSON.stringify(rows) };
    },
    later: sessionOf,
  },
};

const saved = ({ status, text }: { status: number; text: string }) => ({
  status: status === 204 ? 200 : status,
  text,
});

async function actorOf({ database }: TestService, secret: string): Promise<Actor> {
  const actor = await findActor(database.db, secret, systemClock().now);
  assert.ok(actor);
  return actor;
}

type Project = { id: string; key: string; task: string; risk: string };

const tasksOf = (...projects: Project[]) =>
  lines(...projects.map(({ key }) => ({ project: key, title: 'x' })));

for (const [name, { held, write, later }] of Object.entries(cases)) {
  test(`${name} takes its locks in order`, async (t) => {
    const prepared = await prepare(t);
    const { service, lock } = prepared;
    await lock(held(prepared));
    const response = write(prepared);
    await service.untilWaiting(1, response);
    // Not before the write is over, or the end of the test would wait for it.
    const taken = await service.sql(later(prepared)).catch((error: Error) => error);
    await lock('commit');
    const { status, text } = await response;
    assert.equal(status, 200, text);
    assert.doesNotMatch(text, /"failed":[1-9]/);
    assert.ifError(taken instanceof Error ? taken : null);
  });
}

test('a hand-over and a bulk change that wait for the same projects both succeed', async (t) => {
  const prepared = await prepare(t);
  const { service, lock, key, ada, bob, first, second } = prepared;
  await lock(firstProject(prepared));
  // The first in the queue for the first project, and then in need of the second.
  const changed = cases['a bulk change']?.write(prepared);
  await service.untilWaiting(1);
  const handedOver = cases['a hand-over']?.write(prepared);
  await service.untilWaiting(2);
  await lock('commit');
  assert.deepEqual([(await changed)?.status, (await handedOver)?.status], [200, 200]);
  const tasks = await service.sql('select id, title, assignee_user_id, version from tasks order by id');
  assert.deepEqual(
    tasks.rows,
    [first.task, second.task].sort().map((id) => ({ id, title: 'y', assignee_user_id: bob, version: 3 })),
  );
  assert.equal((await service.get(`/v1/personnel/${ada}`, key)).body.status, 'inactive');
  await service.app.close();
  assert.equal(await countDeadlocks(prepared), 0);
});

test('those who sign in, end sessions, rotate keys and change access at once cause no deadlock', async (t) => {
  const prepared = await prepare(t);
  const { service, key, office } = prepared;
  const { database, app } = service;
  const people: Awaited<ReturnType<TestService['member']>>[] = [];
  for (let i = 0; i < 3; i++) people.push(await service.member(['projects.read']));
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  /** The browser of all, and a cookie of the last session in it. */
  let browser = '';
  const signIn = async (user_id: string) => {
    const { now } = systemClock();
    const { token } = await database.write((db) =>
      createLink(db, { purpose: 'sign_in', user_id, key_id: null }, { now, hours: 1 }),
    );
    const headers = { ...sameOrigin, cookie: browser };
    const response = await service.post('/v1/session', undefined, { link: token }, headers);
    if (response.status === 204)
      browser = response.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; ');
    return response;
  };
  const signOutEverywhere = async (user_id: string) => {
    const { headers } = await service.signIn(user_id);
    return service.delete('/v1/sessions', undefined, headers);
  };
  const statuses = new Map<number, number>();
  for (let round = 0; round < 40; round++) {
    for (const { user_id } of people) await service.signIn(user_id);
    const used = await database.db.selectFrom('sessions').select('id').execute();
    await service.sql("update sessions set last_seen_at = '2026-01-01T00:00:00.000Z'");
    const actor = await actorOf(service, office.secret);
    for (const { id } of round % 2 ? used : used.toReversed())
      app.usage.recordUse({ ...actor, session: { ...unused, id } }, systemClock());
    const scopes = round % 2 ? ['projects.read'] : ['projects.read', 'personnel.read'];
    const work = [
      ...people.map(({ user_id }) => signIn(user_id)),
      ...people.map(({ user_id }) => signOutEverywhere(user_id)),
      ...people.map(({ user_id }) => service.call('PUT', `/v1/personnel/${user_id}/access`, key, { scopes })),
      service.delete(`/v1/sessions/${used.at(-1)?.id}`, key),
      service.post('/v1/session', undefined, { key: office.secret }, { ...sameOrigin, cookie: browser }),
      service.post(`/v1/keys/${office.id}/rotate`, key, { overlap_seconds: 600 }).then((response) => {
        office.secret = response.body.secret;
        return response;
      }),
    ];
    await app.usage.flush();
    for (const { status, text } of await Promise.all(work)) {
      assert.ok(status < 500 || text.includes('Your access has changed'), text);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }
  t.diagnostic(JSON.stringify([...statuses]));
  await service.app.close();
  assert.equal(await countDeadlocks(prepared), 0);
});

const unused = {
  way: 'password',
  created_at: '2026-01-01T00:00:00.000Z',
  last_seen_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2030-01-01T00:00:00.000Z',
} as const;

test('changes of an item read it after they have waited for its project', async (t) => {
  const prepared = await prepare(t);
  const { service, lock, key, first } = prepared;
  const item = `/v1/projects/${first.id}/tasks/${first.task}`;
  const writes: Record<string, () => ReturnType<TestService['call']>> = {
    'a change': () => service.patch(item, key, { title: 'z' }),
    'a bulk change': () =>
      service.post('/v1/bulk/tasks', key, { items: [{ id: first.task }], changes: { title: 'z' } }),
    'a deletion': () => service.delete(item, key),
  };
  const { database } = service;
  const run = database.write;
  let attempts = 0;
  database.write = (work, workload) =>
    run((...args) => {
      attempts++;
      return work(...args);
    }, workload);
  for (const [name, write] of Object.entries(writes)) {
    attempts = 0;
    await lock(firstProject(prepared));
    const response = write();
    await service.untilWaiting(1);
    await lock(
      `update tasks set version = version + 1, title = 'changed meanwhile' where id = '${first.task}'`,
    );
    await lock('commit');
    const { status, text } = await response;
    assert.ok(status < 300, `${name}: ${text}`);
    assert.equal(attempts, 1, name);
  }
});

test('writes that wait for a lock leave connections for reads', async (t) => {
  const prepared = await prepare(t);
  const { service, lock, key, first } = prepared;
  await lock(firstProject(prepared));
  const writing = Array.from({ length: 20 }, () =>
    service.post(`/v1/projects/${first.id}/tasks`, key, { title: 'x' }),
  );
  const waitingForConnections = () => {
    const { quick, writes } = service.database.pools();
    return (quick?.waiting ?? 0) + (writes?.waiting ?? 0);
  };
  // The pool has ten.
  while (waitingForConnections() < 10) await setTimeout(1);
  const read = await Promise.race([
    service.get(`/v1/projects/${first.id}`, key),
    setTimeout(4_000, undefined, { ref: false }),
  ]);
  await lock('commit');
  const statuses = (await Promise.all(writing)).map(({ status }) => status);
  assert.equal(read?.status, 200);
  assert.deepEqual([...new Set(statuses)], [201]);
});

// The last test: timers that are cleared while they are mocked stay active for a while.
test('a write that waits for too long is 503, and changes nothing afterwards', async (t) => {
  const prepared = await prepare(t);
  const { service, lock, key, first } = prepared;
  const item = `/v1/projects/${first.id}/tasks/${first.task}`;
  const before = (await service.get(item, key)).text;
  await lock(firstProject(prepared));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const writing = service.patch(item, key, { title: 'too late' });
  await service.untilWaiting(1);
  t.mock.timers.tick(9_000);
  t.mock.timers.reset();
  // The lock is still held: only the time limit can have ended it.
  const response = await Promise.race([writing, setTimeout(4_000, undefined, { ref: false })]);
  await lock('commit');
  assert.equal(response?.status, 503);
  assert.equal(response?.headers.get('retry-after'), '1');
  await service.untilWaiting(0);
  while ((await service.sql(busyBackends)).rows.length > 0);
  assert.equal((await service.get(item, key)).text, before);
});

const ofService = "datname = current_database() and application_name = 'muster'";
const busyBackends = `select 1 from pg_stat_activity where ${ofService} and state <> 'idle'`;

/**
 * Ada has a task in each of two projects, the first of which has an accepted risk. `lock` runs statements in a transaction
 * of its own, `service.sql` each in its own.
 */
async function prepare(t: TestContext) {
  const started = await startTestService(t, 'postgres');
  const key = await started.key();
  const [holder, observer] = [new pg.Client(started.url), new pg.Client(started.url)];
  for (const client of [holder, observer]) {
    await client.connect();
    // The database is dropped before this ends the connection.
    client.on('error', () => {});
    t.after(() => client.end().catch(() => {}));
  }
  const sql = (text: string) => observer.query(text);
  const untilWaiting = async (count: number, writing?: Promise<unknown>) => {
    const waiting = `select 1 from pg_stat_activity where ${ofService} and wait_event_type = 'Lock'`;
    let isOver = false;
    writing?.finally(() => {
      isOver = true;
    });
    while ((await sql(waiting)).rows.length !== count) assert.ok(!isOver, 'It did not wait for the lock.');
  };
  const service = { ...started, sql, untilWaiting };
  const make = (path: string, body: object) => service.make(path, key, body);
  const { user_id: ada } = await make('/v1/personnel', { name: 'Ada' });
  const { user_id: bob } = await make('/v1/personnel', { name: 'Bob' });
  const { id: group } = await make('/v1/groups', { name: 'Crew' });
  const projects: Project[] = [];
  for (const name of ['APOLLO', 'GEMINI']) {
    const project = await make('/v1/projects', { name, key: name });
    const path = `/v1/projects/${name}`;
    const task = await make(`${path}/tasks`, { title: 'x', assignee_user_id: ada });
    const risk = await make(`${path}/risks`, { title: 'x', probability: 2, impact: 2 });
    projects.push({ id: project.id, key: name, task: task.id, risk: risk.id });
  }
  const [first, second] = projects.sort((a, b) => (a.id < b.id ? -1 : 1)) as [Project, Project];
  const accepted_until = daysLater(systemClock().today, -1);
  await sql(
    `update risks set status = 'accepted', accepted_until = '${accepted_until}' where id = '${first.risk}'`,
  );
  const member = await started.member(['projects.read']);
  const office = await make('/v1/keys', { name: 'office', scopes: ['projects.read'] });
  // Its row is now the last of the table, so that a scan of the table finds it after the other one.
  await sql(`update projects set version = version where id = '${first.id}'`);
  await holder.query('begin');
  const lock = async (text: string) => {
    await holder.query(text);
    if (text === 'commit') await holder.query('begin');
  };
  return { service, key, lock, ada, bob, group, first, second, member, office };
}

/** A connection reports its deadlocks when it ends, if not before. */
async function countDeadlocks({ service }: Prepared): Promise<number> {
  while ((await service.sql(`select 1 from pg_stat_activity where ${ofService}`)).rows.length > 0);
  const { rows } = await service.sql(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return rows[0].deadlocks;
}
