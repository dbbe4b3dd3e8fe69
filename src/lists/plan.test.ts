import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CompiledQuery, sql } from 'kysely';
import { onBothEngines, type TestService } from '../../test/service.ts';
import { momentOf } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { accountEvents, eventList } from '../resources/events/queries.ts';
import { historyList } from '../resources/history/queries.ts';
import { issueList } from '../resources/issues/queries.ts';
import { openDatabase } from '../store/open.ts';
import { scopeToProjects } from '../store/project-scope.ts';
import { insertRows } from '../store/writes/rows.ts';
import { type List, listPage } from './list.ts';

const moment = momentOf(new Date('2026-11-15T09:00:00Z'));
const count = 5_000;

/** Reads all rows for the sake of a few: in PostgreSQL a scan, in SQLite an index for one statement. */
const wholeTable = /Seq Scan on (events|history)|AUTOMATIC/;

onBothEngines('the plan of a page that no index finds', (start, engine) => {
  /** The plan of the statement that reads the page for a key that is limited to these projects. */
  async function planOf(t: TestContext, { url }: TestService, project_ids: string[] | null, list: List) {
    const statements: CompiledQuery[] = [];
    const database = openDatabase(url, undefined, {}, ({ query }) => statements.push(query));
    t.after(() => database.close());
    const { db } = scopeToProjects(database, project_ids);
    const rows = await listPage(db, { ...list, isIndexed: false }, undefined, 11);
    assert.equal(rows.length, 11);
    const { sql: text, parameters } = statements.at(-1) ?? assert.fail();
    const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
    const plan = await database.db.executeQuery<object>(
      CompiledQuery.raw(`${explain} ${text}`, [...parameters]),
    );
    return plan.rows.map((row) => ('detail' in row ? row.detail : Object.values(row)[0])).join('\n');
  }

  test('events are found by their number', async (t) => {
    const service = await start(t);
    const { id } = await service.make('/v1/projects', await service.key(), { name: 'Apollo' });
    const [first] = await service.database.db
      .selectFrom('events')
      .selectAll()
      .where('subject_id', '=', id)
      .execute();
    assert.ok(first);
    const rows = Array.from({ length: count }, (_, i) => ({ ...first, id: newId('event'), sequence: i + 1 }));
    await service.database.write(async (db) => {
      await insertRows(db, 'events', rows);
      await sql`analyze`.execute(db);
    });
    for (const project_ids of [null, [id]]) {
      const list = eventList(
        { types: ['project.created'] },
        { scopes: ['projects.read'], project_ids },
        moment,
      );
      assert.doesNotMatch(await planOf(t, service, project_ids, list), wholeTable);
    }
  });

  test('events of an account are found by their person', async (t) => {
    const service = await start(t);
    const { user_id } = await service.member(['projects.read']);
    const [first] = await service.database.db
      .selectFrom('events')
      .selectAll()
      .where('type', '=', 'session.started')
      .execute();
    assert.ok(first);
    const { sequence: last } = first;
    const rows = Array.from({ length: count }, (_, i) => ({
      ...first,
      id: newId('event'),
      sequence: last + i + 1,
      data: i % 100 === 0 ? first.data : first.data.replace(user_id, newId('person')),
    }));
    await service.database.write(async (db) => {
      await insertRows(db, 'events', rows);
      await sql`analyze`.execute(db);
    });
    const list = accountEvents(user_id, momentOf(new Date()));
    assert.match(await planOf(t, service, null, list), /events_account/);
  });

  test('history is found by its subject', async (t) => {
    const service = await start(t);
    const { id } = await service.make('/v1/projects', await service.key(), { name: 'Apollo' });
    const [first] = await service.database.db
      .selectFrom('history')
      .selectAll()
      .where('subject_id', '=', id)
      .execute();
    assert.ok(first);
    const rows = Array.from({ length: count }, (_, i) => ({
      ...first,
      id: newId('history'),
      subject_id: i % 100 === 0 ? id : newId('project'),
    }));
    await service.database.write(async (db) => {
      await insertRows(db, 'history', rows);
      await sql`analyze`.execute(db);
    });
    for (const project_ids of [null, [id]]) {
      assert.doesNotMatch(await planOf(t, service, project_ids, historyList(id)), wholeTable);
    }
  });
});

test('a list of some open and some closed issues is not taken for an indexed one', () => {
  const isIndexed = (status: ('open' | 'in_progress' | 'blocked' | 'resolved' | 'closed')[]) =>
    issueList({ status, archived: 'false' }, moment).isIndexed;
  assert.equal(isIndexed(['open', 'in_progress', 'blocked']), true);
  assert.equal(isIndexed(['open', 'resolved', 'closed']), false);
});
