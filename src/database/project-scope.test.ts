import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { onBothEngines, type Start } from '../../test/service.ts';
import { scopeToProjects } from './project-scope.ts';
import { type Tables, tableNames } from './tables.ts';

onBothEngines('the view of a limited key', (start) => {
  test('a query is about what is seen, in whatever words it is written', async (t) => {
    const { view, seen } = await twoProjects(start, t);
    const { db } = view;
    const asked = [
      db.selectFrom('risks').select('id'),
      db.selectFrom('risks as others').select('others.id'),
      db.selectFrom('projects').innerJoin('risks', 'risks.project_id', 'projects.id').select('risks.id'),
      db.selectFrom(db.selectFrom('risks').select('risks.id').as('inner')).select('inner.id'),
      db.selectFrom('people').select(sql<string>`(select max(id) from risks)`.as('id')),
      db
        .with('named', (db) => db.selectFrom('risks').select('id'))
        .selectFrom('named')
        .select('id'),
    ];
    for (const query of asked)
      assert.deepEqual(await query.execute(), [{ id: seen.risk }], query.compile().sql);
    for (const query of [
      sql`select id from risks`,
      sql`select risks.id from projects join ${sql.table('risks')} on risks.project_id = projects.id`,
      sql`select id from (with inner_risks as (select * from risks) select id from inner_risks) as found`,
    ])
      assert.deepEqual((await query.execute(db)).rows, [{ id: seen.risk }]);
    const { db: snapshot, end } = await view.snapshot();
    assert.deepEqual(await snapshot.selectFrom('risks').select('id').execute(), [{ id: seen.risk }]);
    await end();
  });

  test('each table shows what is of the projects that are seen, or is shared by all', async (t) => {
    const { view, database, hidden } = await twoProjects(start, t);
    const shared = ['people', 'groups', 'memberships'];
    for (const table of tableNames) {
      const rowsOf = async (db: Kysely<Tables>) =>
        JSON.stringify(await db.selectFrom(table).selectAll().execute());
      const [all, seen] = [await rowsOf(database.db), await rowsOf(view.db)];
      assert.ok(seen.length > 50, `${table}: ${seen}`);
      assert.equal(view.isFiltered([table]), !shared.includes(table));
      if (shared.includes(table)) assert.equal(seen, all);
      else assert.ok(all.includes(hidden.project) || all.includes(hidden.risk), table);
      for (const id of Object.values(hidden)) assert.ok(!seen.includes(id), `${table}: ${seen}`);
    }
    assert.equal(view.isFiltered(['people', 'risks']), true);
    assert.equal(scopeToProjects(database, null).isFiltered(tableNames), false);
  });

  test('a change changes only what is seen', async (t) => {
    const { view, database, hidden } = await twoProjects(start, t);
    const titles = async (db: Kysely<Tables>) =>
      (await db.selectFrom('risks').select('title').orderBy('id').execute()).map(({ title }) => title);
    await view.write(async (db) => {
      await db.updateTable('risks').set({ title: 'changed' }).execute();
      await db.updateTable('projects').set({ name: 'changed' }).where('id', '=', hidden.project).execute();
      await db.deleteFrom('history').execute();
      await db.deleteFrom('tasks').execute();
      await db.deleteFrom('issues').execute();
    });
    assert.deepEqual(await titles(database.db), ['changed', 'hidden']);
    await view.write((db) => db.deleteFrom('risks').execute());
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

  test('a statement for which no limit can be said is refused', async (t) => {
    const { view } = await twoProjects(start, t);
    const { db } = view;
    const endless = db
      .withRecursive('ids(id)', (db) => db.selectFrom('risks').select('id'))
      .selectFrom('ids')
      .select('id');
    assert.throws(() => endless.compile(), /names of its own/);
    await assert.rejects(
      sql`with recursive ids as (select 1) select * from ids`.execute(db),
      /names of its own/,
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
      /No limit is known/,
    );
    assert.throws(() => db.schema.dropTable('risks').compile(), /No limit is known/);
  });
});

/** A key that sees one of two projects. */
async function twoProjects(start: Start, t: TestContext) {
  const service = await start(t);
  const key = await service.key();
  const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
  const group = await service.make('/v1/groups', key, { name: 'Works' });
  await service.call('PUT', `/v1/groups/${group.id}/members/${user_id}`, key);
  const make = async (name: string) => {
    const { id: project } = await service.make('/v1/projects', key, { name });
    const at = `/v1/projects/${project}`;
    const { id: risk } = await service.make(`${at}/risks`, key, { title: 'was' });
    await service.call('PATCH', `${at}/risks/${risk}`, key, { title: name.toLowerCase() });
    await service.make(`${at}/issues`, key, { title: 'Issue', risk_id: risk });
    await service.make(`${at}/tasks`, key, { title: 'Task', risk_id: risk });
    await service.limitedKey([project], 'projects.read');
    return { project, risk };
  };
  const [seen, hidden] = [await make('Seen'), await make('Hidden')];
  const { database } = service;
  return { database, view: scopeToProjects(database, [seen.project]), seen, hidden };
}
