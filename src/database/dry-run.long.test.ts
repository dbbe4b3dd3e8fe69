import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { onBothEngines, withKey } from '../../test/service.ts';
import { momentOf } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { personRow } from '../resources/personnel/queries.ts';
import { scopeToProjects } from '../store/project-scope.ts';
import { lockTables } from '../store/writes/locks.ts';
import type { Work } from './sqlite/group-commit.ts';

const addPerson =
  (name: string): Work<number> =>
  async (db) => {
    await lockTables(db, 'people');
    const row = personRow(newId('person'), { name }, momentOf(new Date()));
    await db
      .insertInto('people')
      .values(row as never)
      .execute();
    return (await db.selectFrom('people').select('name').execute()).length;
  };

onBothEngines('a dry run', (start, engine) => {
  test('sees its own writes and leaves nothing behind', async (t) => {
    const { database, url } = await start(t);
    await database.write(addPerson('Ada'));
    assert.equal(await database.dryRun(addPerson('Bob')), 2);
    await assert.rejects(
      database.dryRun(async (db) => {
        await addPerson('Cid')(db);
        throw new Error('stopped');
      }),
      /stopped/,
    );
    const people = await database.db.selectFrom('people').select('name').execute();
    assert.deepEqual(people, [{ name: 'Ada' }]);
    if (engine === 'sqlite') assert.deepEqual(copiesBeside(url), []);
  });

  test('does not block writers', async (t) => {
    const { database, url } = await start(t);
    const seen = await database.dryRun(async (db) => {
      await addPerson('Ada')(db);
      // This would deadlock if the dry run took the locks of a write.
      await database.write(addPerson('Bob'));
      if (engine === 'sqlite') {
        const [copy = ''] = copiesBeside(url);
        assert.equal(statSync(copy).mode & 0o777, 0o700);
        assert.equal(statSync(join(copy, 'copy.db')).mode & 0o777, 0o600);
      }
      return (await db.selectFrom('people').select('name').execute()).length;
    });
    assert.equal(seen, engine === 'sqlite' ? 1 : 2);
  });

  test('is limited to the projects of the key', async (t) => {
    const { service, key } = await withKey(start(t));
    const apollo = await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects', key, { name: 'Gemini' });
    const scoped = scopeToProjects(service.database, [apollo.id]);
    const names = await scoped.dryRun((db) => db.selectFrom('projects').select('name').execute());
    assert.deepEqual(names, [{ name: 'Apollo' }]);
    const renamed = await scoped.dryRun((db) =>
      db.updateTable('projects').set({ name: 'Other' }).executeTakeFirst(),
    );
    assert.equal(Number(renamed.numUpdatedRows), 1);
    await assert.rejects(
      scoped.dryRun((db) =>
        db
          .insertInto('projects')
          .values({ id: 'x' } as never)
          .execute(),
      ),
      { code: 'key_limited' },
    );
  });

  if (engine === 'postgres') return;

  test('removes copies that killed processes left behind', async (t) => {
    const { database, url } = await start(t);
    const file = url.slice('sqlite:'.length);
    mkdirSync(`${file}-dry-run-${2 ** 22 + 1}-abc`);
    mkdirSync(`${file}-dry-run-${process.ppid}-abc`);
    await database.migrate();
    assert.deepEqual(copiesBeside(url), [`${file}-dry-run-${process.ppid}-abc`]);
  });

  test('writes that wait too long behind bulk work are rejected with 503', async (t) => {
    const { database } = await start(t);
    const release = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const bulk = database.write(async (db) => {
      started.resolve();
      await release.promise;
      return addPerson('Ada')(db);
    }, 'bulk');
    await started.promise;
    await assert.rejects(database.write(addPerson('Bob')), {
      code: 'unavailable',
      headers: { 'retry-after': '5' },
    });
    release.resolve();
    assert.equal(await bulk, 1);
    assert.equal(await database.write(addPerson('Cid')), 2);
  });
});

/** The copies of dry runs beside a database file. */
function copiesBeside(url: string): string[] {
  const folder = dirname(url.slice('sqlite:'.length));
  return readdirSync(folder)
    .filter((name) => name.includes('-dry-run-'))
    .map((name) => join(folder, name));
}
