import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../test/service.ts';

type Result = { status: string; errors?: { pointer: string; code: string; detail: string }[] };

onBothEngines('an import follows the rules of single requests', (start) => {
  test('forbidden characters fail their row, wherever they are', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const send = (path: string, rows: object[]) =>
      service.call('POST', path, key, rows.map((row) => JSON.stringify(row)).join('\n'), {
        'content-type': 'application/x-ndjson',
      });
    const codesOf = (body: { results: Result[] }) =>
      body.results.map(({ errors = [] }) => errors.map(({ pointer, code }) => [pointer, code]));
    const people = await send('/v1/personnel/import', [
      { name: 'x', manager_user_id: 'a\u0000b' },
      { name: 'x', manager_user_id: '\ud800' },
      { name: 'x', user_id: 'a\u0000' },
      { name: 'x\u0007' },
    ]);
    assert.equal(people.status, 200, people.text);
    assert.deepEqual(codesOf(people.body), [
      [['#/manager_user_id', 'forbidden_characters']],
      [['#/manager_user_id', 'forbidden_characters']],
      [['#/user_id', 'forbidden_characters']],
      [['#/name', 'forbidden_characters']],
    ]);
    const parts = await service.call(
      'POST',
      '/v1/personnel/import',
      key,
      'First name,Last name\nAd\u0007a,Lovelace\n',
      { 'content-type': 'text/csv' },
    );
    assert.equal(parts.body.results[0].status, 'failed', parts.text);
    assert.equal(parts.body.results[0].errors[0].code, 'forbidden_characters');
    const risks = await send('/v1/imports/risks?create_projects=true', [
      { title: 'x', project: 'a\u0000b' },
      { title: 'x', project: 'a'.repeat(201) },
      { title: 'x', project: 'a\nb' },
    ]);
    assert.deepEqual(
      risks.body.results.map(({ status }: Result) => status),
      ['failed', 'failed', 'failed'],
      risks.text,
    );
    assert.equal((await service.get('/v1/projects', key)).body.data.length, 0);
  });

  test('a project is created only for a row that can be imported, and not with a limited key', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const csv = { 'content-type': 'text/csv' };
    const file = 'project,title,due_on\nGhost,x,never\nReal,y,\n';
    const path = '/v1/imports/risks?create_projects=true';
    const limited = await service.limitedKey(['APOLLO'], 'projects.manage');
    const refused = await service.call('POST', path, limited, `${file}APOLLO,z,\n`, csv);
    assert.deepEqual([refused.status, refused.body.code], [403, 'key_limited']);
    const { body } = await service.call('POST', path, key, file, csv);
    assert.deepEqual(
      body.results.map(({ status }: Result) => status),
      ['failed', 'created'],
    );
    const names = (await service.get('/v1/projects', key)).body.data.map(
      ({ name }: { name: string }) => name,
    );
    assert.deepEqual(names.toSorted(), ['Apollo', 'Real']);
  });

  test('two rows that name one person by different keys are applied in order', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com' });
    const rows = [
      { user_id, title: 'One' },
      { email: 'ada@example.com', title: 'Two' },
    ];
    const { status, body } = await service.call(
      'POST',
      '/v1/personnel/import?mode=upsert',
      key,
      rows.map((row) => JSON.stringify(row)).join('\n'),
      { 'content-type': 'application/x-ndjson' },
    );
    assert.equal(status, 200);
    assert.deepEqual(
      body.results.map(({ status }: Result) => status),
      ['updated', 'updated'],
    );
    const person = (await service.get(`/v1/personnel/${user_id}`, key)).body;
    assert.deepEqual([person.title, person.version], ['Two', 3]);
  });

  test('names with a comma in our own export stay as they are', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/personnel', key, { name: 'Lovelace, Ada' });
    const file = (await service.get('/v1/personnel?format=csv', key)).text;
    const path = '/v1/personnel/import?mode=upsert';
    const { body } = await service.call('POST', path, key, file, { 'content-type': 'text/csv' });
    assert.equal(body.results[0].status, 'unchanged', JSON.stringify(body));
  });
});
