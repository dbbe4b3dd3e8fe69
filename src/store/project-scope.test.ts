import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { onBothEngines, type Start, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { defaultModel } from '../resources/risk-model/schema.ts';
import { createTest } from '../resources/webhooks/deliveries.ts';
import { scopeToProjects } from './project-scope.ts';
import { storeSettings } from './settings.ts';
import { type Tables, tableNames, tables } from './tables.ts';
import { bySystem } from './writes/change.ts';

onBothEngines('the database scoped to projects', (start) => {
  test('every form of query reads only visible rows', async (t) => {
    const { scoped, visible } = await twoProjects(start, t);
    const { db } = scoped;
    const queries = [
      db.selectFrom('risks').select('id'),
      db.selectFrom('risks as r').select('r.id'),
      db.selectFrom('projects').innerJoin('risks', 'risks.project_id', 'projects.id').select('risks.id'),
      db.selectFrom(db.selectFrom('risks').select('risks.id').as('inner')).select('inner.id'),
      db.selectFrom('people').select(sql<string>`(select max(id) from risks)`.as('id')),
      db
        .with('named', (db) => db.selectFrom('risks').select('id'))
        .selectFrom('named')
        .select('id'),
    ];
    for (const query of queries)
      assert.deepEqual(await query.execute(), [{ id: visible.risk }], query.compile().sql);
    for (const query of [
      sql`select id from risks`,
      sql`select risks.id from projects join ${sql.table('risks')} on risks.project_id = projects.id`,
      sql`select id from (with inner_risks as (select * from risks) select id from inner_risks) as found`,
    ])
      assert.deepEqual((await query.execute(db)).rows, [{ id: visible.risk }]);
    const { db: snapshot, end } = await scoped.snapshot();
    assert.deepEqual(await snapshot.selectFrom('risks').select('id').execute(), [{ id: visible.risk }]);
    await end();
  });

  test('each table contains rows of visible projects, or is shared by all projects', async (t) => {
    const { service, scoped, database, hidden, visible: seen } = await twoProjects(start, t);
    await service.member(['projects.read'], [seen.project]);
    const shared = ['people', 'groups', 'memberships', 'handovers', 'settings', 'categories', 'risk_models'];
    const key = await service.key();
    await service.make('/v1/categories', key, { name: 'Supply' });
    await service.call('PUT', '/v1/risk-model', key, { ...defaultModel, longest_acceptance_days: null });
    await database.write((db) => storeSettings(db, { time_zone: 'America/Argentina/Buenos_Aires' }));
    for (const table of tableNames) {
      const rowsOf = async (db: Kysely<Tables>) =>
        JSON.stringify(await db.selectFrom(table).selectAll().execute());
      const [all, visible] = [await rowsOf(database.db), await rowsOf(scoped.db)];
      // A view may name any project, and access concerns all of them, so none is visible.
      const isHidden = tables[table].visible === 'none';
      assert.ok(isHidden ? visible === '[]' : visible.length > 40, `${table}: ${visible}`);
      assert.equal(scoped.isFiltered([table]), !shared.includes(table));
      if (shared.includes(table)) assert.equal(visible, all);
      else if (isHidden) assert.ok(all.length > 40, table);
      else
        assert.ok(
          Object.values(hidden).some((id) => all.includes(id)),
          table,
        );
      for (const id of Object.values(hidden)) assert.ok(!visible.includes(id), `${table}: ${visible}`);
    }
    assert.equal(scoped.isFiltered(['people', 'risks']), true);
    assert.equal(scopeToProjects(database, null).isFiltered(tableNames), false);
  });

  test('updates and deletes affect only visible rows', async (t) => {
    const { scoped, database, hidden } = await twoProjects(start, t);
    const titles = async (db: Kysely<Tables>) =>
      (await db.selectFrom('risks').select('title').orderBy('id').execute()).map(({ title }) => title);
    await scoped.write(async (db) => {
      await db.updateTable('risks').set({ title: 'changed' }).execute();
      await db.updateTable('projects').set({ name: 'changed' }).where('id', '=', hidden.project).execute();
      await db.deleteFrom('history').execute();
      await db.deleteFrom('tasks').execute();
      await db.deleteFrom('issues').execute();
    });
    assert.deepEqual(await titles(database.db), ['changed', 'hidden']);
    await scoped.write((db) => db.deleteFrom('risks').execute());
    assert.deepEqual(await titles(database.db), ['hidden']);
    const { name } = await database.db
      .selectFrom('projects')
      .select('name')
      .where('id', '=', hidden.project)
      .executeTakeFirstOrThrow();
    assert.equal(name, 'Hidden');
    for (const table of ['tasks', 'issues', 'history'] as const)
      assert.ok(
        JSON.stringify(await database.db.selectFrom(table).selectAll().execute()).includes(hidden.risk),
      );
  });

  test('statements that cannot be limited are rejected', async (t) => {
    const { scoped } = await twoProjects(start, t);
    const { db } = scoped;
    const recursive = db
      .withRecursive('ids(id)', (db) => db.selectFrom('risks').select('id'))
      .selectFrom('ids')
      .select('id');
    assert.throws(() => recursive.compile(), /its own `with`/);
    await assert.rejects(
      sql`with recursive ids as (select 1) select * from ids`.execute(db),
      /its own `with`/,
    );
    assert.throws(() => db.updateTable('risks as r').set({ title: 'x' }).compile(), /without an alias/);
    assert.throws(
      () =>
        db
          .mergeInto('risks')
          .using('issues', 'risks.id', 'issues.risk_id')
          .whenMatched()
          .thenDelete()
          .compile(),
      /cannot be limited to projects/,
    );
    assert.throws(() => db.schema.dropTable('risks').compile(), /cannot be limited to projects/);
  });

  test('raw statements that write are rejected', async (t) => {
    const { scoped, database } = await twoProjects(start, t);
    for (const query of [
      sql`update risks set title = 'changed'`,
      sql`  DELETE from tasks`,
      sql`insert into memberships select group_id, user_id, added_at from memberships where false`,
      sql`${sql.raw('delete')} from tasks`,
      sql.raw('delete from tasks'),
      sql`/* select */ delete from tasks`,
      sql`drop table history`,
    ])
      await assert.rejects(
        scoped.write((db) => query.execute(db)),
        /must start with `select`/,
      );
    const titles = await database.db.selectFrom('risks').select('title').orderBy('id').execute();
    assert.deepEqual(titles, [{ title: 'visible' }, { title: 'hidden' }]);
    assert.equal((await database.db.selectFrom('tasks').select('id').execute()).length, 2);
  });
});

/** Two projects, of which one is visible. */
async function twoProjects(start: Start, t: TestContext) {
  const { service, key } = await withKey(start(t));
  const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
  const group = await service.make('/v1/groups', key, { name: 'Works' });
  await service.call('PUT', `/v1/groups/${group.id}/members/${user_id}`, key);
  const createProject = async (name: string) => {
    const { id: project } = await service.make('/v1/projects', key, { name });
    const at = `/v1/projects/${project}`;
    const { id: risk } = await service.make(`${at}/risks`, key, { title: 'before' });
    await service.patch(`${at}/risks/${risk}`, key, { title: name.toLowerCase() });
    await service.make(`${at}/issues`, key, { title: 'Issue', risk_id: risk, owner_user_id: user_id });
    await service.make(`${at}/tasks`, key, { title: 'Task', risk_id: risk });
    await service.make(`${at}/comments`, key, { body: 'Comment' });
    await service.make('/v1/views', key, { list: 'risks', name, query: `project=${project}` });
    await service.make('/v1/mappings', key, { list: 'risks', name, query: 'preset=none' });
    await service.make('/v1/reports', key, { title: name, since: '2026-01-01', project: [project] });
    await service.limitedKey([project], 'projects.read');
    const target = { url: 'https://example.com/', types: ['risk.*'], project_ids: [project] };
    const webhook = await service.make('/v1/webhooks', key, target);
    await service.database.write((db) => createTest(db, webhook, bySystem(systemClock()), service.origin));
    return { project, risk, webhook: webhook.id as string };
  };
  const [visible, hidden] = [await createProject('Visible'), await createProject('Hidden')];
  await service.post(`/v1/personnel/${user_id}/deactivate`, key, { handover_to_group_id: group.id });
  const { database } = service;
  return { service, database, scoped: scopeToProjects(database, [visible.project]), visible, hidden };
}
