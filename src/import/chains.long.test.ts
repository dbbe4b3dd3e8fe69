import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';

/** A chain of people in which each reports to the next row. */
const chain = (length: number, refer: (i: number) => string = (i) => `e${i}`) =>
  [
    'name,external_id,manager',
    ...Array.from({ length }, (_, i) => `Person ${i},e${i},${i + 1 < length ? refer(i + 1) : ''}`),
  ].join('\n');

const importPeople = (service: TestService, key: string, file: string, query = '') =>
  service.upload(`/v1/personnel/import${query}`, key, file);

onBothEngines('Imports of rows that refer to one another', (start) => {
  test('import a chain of 1,000 managers in either order', async (t) => {
    const { service, key } = await withKey(start(t));
    const { body: dryRun } = await importPeople(service, key, chain(1000), '?dry_run=true');
    assert.deepEqual([dryRun.summary.created, dryRun.summary.failed], [1000, 0]);
    const { body } = await importPeople(
      service,
      key,
      chain(1000, (i) => `person ${i}`),
    );
    assert.deepEqual([body.summary.created, body.summary.failed], [1000, 0]);
    const ids: string[] = pluck(body.results, 'id');
    const { body: people } = await service.get('/v1/personnel', key);
    const managers = new Map(
      people.data.map((person: { user_id: string; manager_user_id: string | null }) => [
        person.user_id,
        person.manager_user_id,
      ]),
    );
    assert.deepEqual(
      ids.map((id) => managers.get(id)),
      [...ids.slice(1), null],
    );
    const { body: again } = await importPeople(service, key, chain(1000), '?mode=upsert');
    assert.deepEqual([again.summary.unchanged, again.summary.failed], [1000, 0]);
  });

  test('set the managers of existing people', async (t) => {
    const { service, key } = await withKey(start(t));
    const names = chain(500)
      .split('\n')
      .map((line) => line.split(',').slice(0, 2).join(','));
    await importPeople(service, key, names.join('\n'));
    const rows = chain(500).split('\n');
    const [header = '', ...people] = rows;
    const reversed = [header, ...people.reverse()].join('\n');
    for (const file of [chain(500), reversed]) {
      const { body } = await importPeople(service, key, file, '?mode=upsert&dry_run=true');
      assert.deepEqual([body.summary.updated, body.summary.failed], [499, 0]);
    }
  });

  test('report cycles and references to failed rows, row by row', async (t) => {
    const { service, key } = await withKey(start(t));
    const file = [
      'name,external_id,manager',
      'Ada,a,b',
      'Bob,b,c',
      'Cid,c,a',
      'Dee,d,a',
      'Eve,e,f',
      'Fay,f,unknown',
      'Gus,g,h',
      'Hal,h,',
      'Ida,i,Ida',
    ].join('\n');
    const { body } = await importPeople(service, key, file);
    const failed = body.results.filter(({ status }: { status: string }) => status === 'failed');
    assert.deepEqual(
      failed.map(({ line, errors }: { line: number; errors: { code: string }[] }) => [line, errors[0]?.code]),
      [2, 3, 4, 5, 6, 7, 10].map((line) => [line, 'unknown_reference']),
    );
    assert.equal(body.summary.created, 2);
  });

  for (const mode of ['create', 'upsert']) {
    test(`keep the order of rows about one person, one of which waits, with mode=${mode}`, async (t) => {
      const { service, key } = await withKey(start(t));
      const file = [
        'name,email,title,manager',
        'Ada,ada@example.com,First,Bob',
        'Bob,bob@example.com,Manager,',
        'Ada,ADA@example.com,Second,Cid',
        'Cid,cid@example.com,Director,',
        'Ada,ada@example.com,Third,',
      ].join('\n');
      const { body } = await importPeople(service, key, file, `?mode=${mode}`);
      assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'failed', 'created', 'failed']);
      const { body: ada } = await service.get(`/v1/personnel/${body.results[0].id}`, key);
      assert.equal(ada.title, 'First');
    });
  }

  test('import rows that wait for a row about the same person', async (t) => {
    const { service, key } = await withKey(start(t));
    const file = 'name,email,manager\nAda,x@example.com,Bob\nBob,x@example.com,\nCid,c@example.com,Ada\n';
    const { body } = await importPeople(service, key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['failed', 'created', 'failed']);
  });

  test('resolve a name to the existing person if the namesake in the file fails', async (t) => {
    const { service, key } = await withKey(start(t));
    const bob = await service.make('/v1/personnel', key, { name: 'Bob' });
    const file = 'name,manager,external_id\nDee,cid,\nCid,Bob,cid\nBob,unknown,\n';
    const { body } = await importPeople(service, key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'failed']);
    const { body: cid } = await service.get(`/v1/personnel/${body.results[1].id}`, key);
    assert.equal(cid.manager_user_id, bob.user_id);
  });
});
