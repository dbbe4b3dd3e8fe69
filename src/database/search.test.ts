import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { freshDatabase, onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import { fold, foldAll } from '../core/text.ts';
import { contains } from '../lists/filters.ts';
import { personRow } from '../resources/personnel/queries.ts';
import { openDatabase } from '../store/open.ts';

type PersonInput = { name: string; email?: string; title?: string };

const insert = ({ database }: Pick<TestService, 'database'>, people: PersonInput[]) =>
  database.write((db) =>
    db
      .insertInto('people')
      .values(people.map((person) => personRow(newId('person'), person, systemClock())))
      .execute(),
  );

onBothEngines('the search for people', (start, engine) => {
  test('finds exactly the people that contain the text', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    const people = [
      { name: 'Jürgen Müller', email: 'j.mueller@example.com', title: 'Head of "Ops" & more' },
      { name: "O'Brien", title: '100% _wild_ \\ back*slash' },
      { name: '李小明' },
      { name: 'Xu' },
      { name: 'A' },
      { name: '👩‍🚀 Astronaut', title: 'İstanbul ﷺ' },
      { name: 'Straße', email: 'a+b@sub.example.com' },
    ];
    await insert(service, people);
    const texts = people.map((person) => foldAll(Object.values(person)));
    const found = async (q: string) => {
      const { body } = await service.get(`/v1/personnel?q=${encodeURIComponent(q)}`, key);
      return pluck(body.data, 'name').sort();
    };
    const expected = (q: string) =>
      people
        .filter((_, i) => texts[i]?.includes(fold(q)))
        .map(({ name }) => name)
        .sort();
    for (const q of [
      'MÜLL',
      'mull',
      'rgen m',
      '小',
      '小明',
      'x',
      'xu',
      'xu ',
      '%',
      '_',
      '\\',
      '"Ops"',
      "'",
      '*',
      '&',
    ]) {
      assert.deepEqual(await found(q), expected(q), q);
    }
    const part = fc
      .constantFrom(...texts.flatMap((text) => text.split('\n')))
      .chain((text) =>
        fc
          .tuple(fc.nat(text.length), fc.integer({ min: 1, max: 8 }))
          .map(([from, length]) => [...text].slice(from, from + length).join('')),
      )
      // The service refuses a text of invisible characters, such as the joiner of two emoji.
      .filter((text) => /[^\p{C}\p{Z}]/u.test(text) && fold(text) === text);
    await fc.assert(
      fc.asyncProperty(part, async (q) => assert.deepEqual(await found(q), expected(q), q)),
      { numRuns: 60 },
    );
  });

  test('finds frequent and rare texts, as a complete list, as pages and as a count', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    const names = Array.from({ length: 2100 }, (_, i) => ({ name: `Person ${String(i).padStart(4, '0')}` }));
    await insert(service, names.slice(0, 1000));
    await insert(service, names.slice(1000));
    const get = async (query: string) => (await service.get(`/v1/personnel?${query}`, key)).body;
    const frequent = await get('q=PERSON');
    assert.deepEqual(
      pluck(frequent.data, 'name'),
      names.map(({ name }) => name),
    );
    const page = await get('q=person&limit=10&count=true');
    assert.deepEqual([page.page.total, page.data.length, page.data[9].name], [2100, 10, 'Person 0009']);
    const rare = await get('q=2099&limit=10&count=true');
    assert.deepEqual([rare.page.total, rare.data[0].name], [1, 'Person 2099']);
    const first = await get('q=209&limit=4');
    const rest = await get(`q=209&cursor=${first.page.next_cursor}`);
    const both = pluck([...first.data, ...rest.data], 'name');
    assert.deepEqual(
      both,
      names.map(({ name }) => name).filter((name) => name.includes('209')),
    );
  });

  if (engine === 'postgres') {
    test('works for a database user who may not create extensions', async (t) => {
      const { url, drop } = await freshDatabase(engine);
      t.after(drop);
      const owner = new pg.Client(url);
      await owner.connect();
      const role = `plain_${Date.now()}`;
      await owner.query(`create role ${role} login password 'x'; grant create on schema public to ${role}`);
      const plainUrl = Object.assign(new URL(url), { username: role, password: 'x' }).href;
      const database = openDatabase(plainUrl);
      await database.migrate();
      await insert({ database }, [{ name: 'Ada' }, { name: 'Bob' }]);
      const condition = contains('people.search_folded', 'bob');
      const people = await database.db.selectFrom('people').select('name').where(condition).execute();
      assert.deepEqual(people, [{ name: 'Bob' }]);
      const { rows } = await owner.query(`select from pg_extension where extname = 'pg_trgm'`);
      assert.equal(rows.length, 0);
      await database.close();
      await owner.query(`drop owned by ${role}; drop role ${role}`);
      await owner.end();
    });
  }
});
