import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';
import { deleteItem } from '../project-items/delete.ts';
import { lockProject } from '../projects/lock.ts';
import { getRisk, riskWrites } from '../risks/queries.ts';

let minute = 0;
const clock = () => momentOf(new Date(Date.UTC(2026, 10, 15, 12, minute)));

onBothEngines('comments', (start, engine) => {
  test('can be written, read, edited and deleted on a project, a risk, an issue and a task', async (t) => {
    const service = await start(t, { clock });
    const { key, subjects } = await fill(service);
    for (const [type, { path, id }] of Object.entries(subjects)) {
      minute = 0;
      const created = await service.post(`${path}/comments`, key, { body: 'Delivery is in **March**.' });
      assert.equal(created.status, 201, type);
      const location = new URL(created.headers.get('location') ?? '');
      assert.equal(location.pathname, `${path}/comments/${created.body.id}`);
      const { subject_type, subject_id, author, edited_at, mentions } = created.body;
      assert.deepEqual([subject_type, subject_id], [type, id]);
      assert.deepEqual([author.name, edited_at, mentions], ['projects.manage', null, []]);

      minute = 5;
      const edited = await service.patch(location.pathname, key, {
        body: 'Delivery is in May.',
        reason: 'New date',
      });
      assert.deepEqual(edited.body, {
        ...created.body,
        body: 'Delivery is in May.',
        edited_at: clock().now,
        updated_at: clock().now,
        version: 2,
      });
      const history = await service.list(`${location.pathname}/history`, key);
      assert.deepEqual(pluck(history, 'field', 'from', 'to', 'reason'), [
        ['created', null, 'Delivery is in **March**.', null],
        ['body', 'Delivery is in **March**.', 'Delivery is in May.', 'New date'],
      ]);

      const second = await service.make(`${path}/comments`, key, { body: 'Thanks' });
      assert.deepEqual(await bodies(service, path, key), ['Delivery is in May.', 'Thanks']);
      assert.equal((await service.delete(`${path}/comments/${second.id}`, key)).status, 204);
      assert.deepEqual(await bodies(service, path, key), ['Delivery is in May.']);
    }
  });

  test('mention people on the roster, and no one else', async (t) => {
    const service = await start(t);
    const { key, subjects } = await fill(service);
    const people = await service.key('personnel.manage');
    const ada = await service.make('/v1/personnel', people, { name: 'Ada' });
    const path = `${subjects.risk.path}/comments`;
    const comment = await service.make(path, key, {
      body: `@${ada.user_id}, please confirm. @${ada.user_id}`,
    });
    assert.deepEqual(comment.mentions, [{ user_id: ada.user_id, name: 'Ada' }]);
    const renamed = await service.patch(`/v1/personnel/${ada.user_id}`, people, { name: 'Ada L.' });
    assert.equal(renamed.status, 200);
    const [listed] = await service.list(path, key);
    assert.deepEqual(listed.mentions, [{ user_id: ada.user_id, name: 'Ada L.' }]);

    const unknown = ada.user_id.replace(/.$/, ada.user_id.endsWith('0') ? '1' : '0');
    const rejected = await service.post(path, key, { body: `Hello @${unknown}` });
    assert.equal(rejected.status, 422);
    assert.deepEqual(rejected.body.errors, [
      { pointer: '#/body', code: 'unknown_reference', detail: `No person has the user id ${unknown}.` },
    ]);
  });

  test('of an archived project are read-only, and go with the item they are about', async (t) => {
    const service = await start(t);
    const { key, subjects } = await fill(service);
    const comment = await service.make(`${subjects.task.path}/comments`, key, { body: 'x' });
    await service.post('/v1/projects/APOLLO/archive', key, undefined);
    const path = `${subjects.task.path}/comments/${comment.id}`;
    for (const response of [
      await service.post(`${subjects.task.path}/comments`, key, { body: 'x' }),
      await service.patch(path, key, { body: 'y' }),
      await service.delete(path, key),
    ]) {
      assert.equal(response.body.code, 'project_archived');
    }
    await service.post('/v1/projects/APOLLO/unarchive', key, undefined);
    for (const type of ['task', 'issue', 'risk', 'project'] as const) {
      await service.make(`${subjects[type].path}/comments`, key, { body: 'x' });
      assert.equal((await service.delete(subjects[type].path, key)).status, 204, type);
      assert.equal((await service.get(`${subjects[type].path}/comments`, key)).status, 404);
    }
  });

  test('are not created on an item that is deleted at the same time', async (t) => {
    const service = await start(t);
    const { database, app } = service;
    const { key, subjects } = await fill(service);
    const change = bySystem(app.clock(), 'a test');
    const posted: Promise<{ status: number }>[] = [];
    await database.write(async (db) => {
      await lockProject(db, subjects.project.id);
      const risk = await getRisk(db, subjects.project.id, subjects.risk.id, change);
      posted.push(service.post(`${subjects.risk.path}/comments`, key, { body: 'Too late' }));
      // SQLite has one writer, so there the request waits for this transaction as a whole.
      if (engine === 'postgres') await waitForLock(database.db);
      await deleteItem(db, riskWrites, risk, change);
    });
    assert.deepEqual(pluck(await Promise.all(posted), 'status'), [404]);
    assert.deepEqual(await database.db.selectFrom('comments').selectAll().execute(), []);
  });

  test('do not keep a project from being deleted, even if their item is missing', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/comments', key, { body: 'x' });
    await service.database.write((db) =>
      db.updateTable('comments').set({ subject_type: 'risk', subject_id: 'rsk_missing' }).execute(),
    );
    assert.equal((await service.delete(`/v1/projects/${id}`, key)).status, 204);
  });

  test('are not found under the former key of a project, or after their item is deleted', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo', key: 'OLD' });
    await service.make('/v1/projects/OLD/comments', key, { body: 'About Apollo' });
    // The second response comes from the cache.
    for (let n = 0; n < 2; n++)
      assert.deepEqual(await bodies(service, '/v1/projects/OLD', key), ['About Apollo']);
    assert.equal((await service.patch(`/v1/projects/${id}`, key, { key: 'NEW' })).status, 200);
    assert.equal((await service.get('/v1/projects/OLD/comments', key)).status, 404);
    await service.make('/v1/projects', key, { name: 'Gemini', key: 'OLD' });
    assert.deepEqual(await bodies(service, '/v1/projects/OLD', key), []);

    const risk = await service.make('/v1/projects/NEW/risks', key, { title: 'x' });
    const path = `/v1/projects/NEW/risks/${risk.id}`;
    for (let n = 0; n < 2; n++) assert.deepEqual(await bodies(service, path, key), []);
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.get(`${path}/comments`, key)).status, 404);
  });

  test('are visible to keys of their project only, and never under another item', async (t) => {
    const service = await start(t);
    const { key, subjects } = await fill(service);
    const other = await service.make('/v1/projects', key, { name: 'Gemini' });
    const comment = await service.make(`${subjects.risk.path}/comments`, key, { body: 'Secret' });
    const limited = await service.limitedKey([other.id], 'projects.manage');
    for (const path of [`${subjects.risk.path}/comments`, `${subjects.risk.path}/comments/${comment.id}`]) {
      assert.equal((await service.get(path, limited)).status, 404);
    }
    assert.equal((await service.post(`${subjects.risk.path}/comments`, limited, { body: 'x' })).status, 404);
    assert.equal((await service.get(`${subjects.issue.path}/comments/${comment.id}`, key)).status, 404);
    const reader = await service.key('projects.read');
    assert.equal((await service.post(`${subjects.risk.path}/comments`, reader, { body: 'x' })).status, 403);
    assert.equal((await service.get(`${subjects.risk.path}/comments`, reader)).status, 200);
  });
});

/** A project with one risk, one issue and one task. */
async function fill(service: TestService) {
  const key = await service.key('projects.manage');
  const project = await service.make('/v1/projects', key, { name: 'Apollo' });
  const make = async (kind: string) => {
    const { id } = await service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'x' });
    return { id, path: `/v1/projects/${project.id}/${kind}/${id}` };
  };
  const subjects = {
    project: { id: project.id, path: `/v1/projects/${project.id}` },
    risk: await make('risks'),
    issue: await make('issues'),
    task: await make('tasks'),
  };
  return { key, subjects };
}

/** Resolves when a transaction waits for another one. */
async function waitForLock(db: Kysely<Tables>): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length > 0) return;
    await setTimeout(10);
  }
}

async function bodies(service: TestService, path: string, key: string): Promise<string[]> {
  const { body } = await service.get(`${path}/comments`, key);
  return body.data.map((comment: { body: string }) => comment.body);
}
