import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, withKey } from '../../test/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const byKey = (a: Any, b: Any) => a.key.localeCompare(b.key);

const issues = '/v1/projects/APOLLO/issues';
const risks = '/v1/projects/APOLLO/risks';

onBothEngines('an import', (start) => {
  test('takes old logs: due dates in the past, risks that have occurred, resolutions in words', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const log =
      'Issue,Due date,Status,Resolution\n' +
      'Late,2020-03-04,Open,\n' +
      'Fixed,2020-03-05,Closed,Replaced the valve\n' +
      'Odd,,Resolved,Duplicate\n';
    const { body } = await service.upload(`${issues}/import`, key, log);
    assert.equal(body.summary.failed, 0);
    const stored: Any[] = (await service.list(`${issues}?status=all`, key)).sort(byKey);
    assert.deepEqual(pluck(stored.slice(0, 2), 'title', 'raised_on', 'due_on', 'status'), [
      ['Late', '2020-03-04', '2020-03-04', 'open'],
      ['Fixed', '2020-03-05', '2020-03-05', 'closed'],
    ]);
    assert.deepEqual(pluck(stored, 'resolution', 'resolution_note'), [
      [null, null],
      ['fixed', 'Replaced the valve'],
      ['duplicate', null],
    ]);
    assert.deepEqual(pluck(body.results[0].warnings, 'pointer', 'code'), [['#/raised_on', 'completed']]);
    const reopened = await service.patch(`${issues}/APOLLO-I2`, key, { status: 'open', reason: 'Again' });
    assert.equal(reopened.body.resolution_note, null);

    const register = 'Risk,Due,Status,Likelihood,Impact\nIt happened,2021-01-01,Occurred,5,4\n';
    const occurred = await service.upload(`${risks}/import`, key, register);
    assert.equal(occurred.body.summary.failed, 0, occurred.text);
    const [risk]: Any[] = await service.list(`${risks}?status=all`, key);
    assert.deepEqual([risk.status, risk.raised_on, risk.issue_ids], ['materialized', '2021-01-01', []]);
    // Its issue is in a file of issues. By other ways, only the action of its own sets the status.
    await service.upload(`${issues}/import`, key, 'Issue,From risk\nThe flood,APOLLO-R1\n');
    assert.equal((await service.get(`${risks}/APOLLO-R1`, key)).body.issue_ids.length, 1);
    const other = await service.make(risks, key, { title: 'x' });
    assert.equal((await service.patch(`${risks}/${other.id}`, key, { status: 'materialized' })).status, 422);
  });

  test('reads no number of an impact as a severity, because 1 or 5 can be the highest', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const send = (column: string, query = '') =>
      service.upload(`${issues}/import?${query}`, key, `Issue,${column}\nA,5\nB,4 - High\n`);
    const { body } = await send('Impact (1-5)');
    assert.deepEqual(pluck(body.results, 'status'), ['failed', 'created']);
    assert.deepEqual(body.summary.unknown_values, { 'Impact (1-5)': ['5'] });
    assert.equal((await send('Impact', 'map_values=Impact:5=critical')).body.summary.failed, 0);
    assert.equal((await send('Severity')).body.summary.failed, 0);
    const stored: Any[] = (await service.list(issues, key)).sort(byKey);
    assert.deepEqual(pluck(stored, 'severity'), ['high', 'critical', 'high', 'low', 'high']);
  });

  test('sets values that a file does not have, and reads a file like the last one of its kind', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/personnel', key, { name: 'Ada Lovelace' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const send = (query: string, file: string) => service.upload(`${risks}/import?${query}`, key, file);
    const set = 'set=raised_on:2026-01-01,category:Legal, and more,owner:Ada Lovelace,attributes.origin:x';
    const file = 'Risk,Category,Raised\nA,,\nB,Safety,2026-02-02\n';
    assert.equal((await send(set, file)).body.summary.failed, 0);
    const stored: Any[] = (await service.list(risks, key)).sort(byKey);
    assert.deepEqual(pluck(stored, 'raised_on', 'category', 'owner_name', 'attributes.origin'), [
      ['2026-01-01', 'Legal, and more', 'Ada Lovelace', 'x'],
      ['2026-02-02', 'Safety', 'Ada Lovelace', 'x'],
    ]);
    const unknown = await send('set=colour:red', file);
    assert.deepEqual([unknown.status, unknown.body.errors[0].parameter], [400, 'set']);
    const across = await service.upload('/v1/imports/risks?set=project:APOLLO', key, 'Risk\nC\n');
    assert.equal(across.body.results[0].key, 'APOLLO-R3');

    const query =
      'map=Wer=owner_name&map_values=Stand:Liegt=monitoring,Stand:Weg=closed&map=Stand=status&set=category:Legal';
    await service.make('/v1/mappings', key, { list: 'risks', name: 'office', query });
    const office = 'Risk,Wer,Stand\nD,Ada Lovelace,Liegt\n';
    const mapped = await send('mapping=office&set=category:Other', office);
    assert.equal(mapped.status, 200, mapped.text);
    const found = (await service.get(`${risks}/APOLLO-R4`, key)).body;
    assert.deepEqual(
      [found.status, found.owner_name, found.category],
      ['monitoring', 'Ada Lovelace', 'Other'],
    );
    // A column of the mapping that this file does not have is no error.
    assert.equal((await send('mapping=office', 'Risk\nE\n')).status, 200);
    const wrong = await service.upload(`${issues}/import?mapping=office`, key, office);
    assert.match(wrong.body.detail, /“office” is for risks, not for issues/);
    assert.match((await send('mapping=ofice', office)).body.detail, /does not exist. Did you mean “office”/);
    const invalid = await service.post('/v1/mappings', key, {
      list: 'risks',
      name: 'x',
      query: 'dry_run=true',
    });
    assert.deepEqual([invalid.status, invalid.body.errors[0].pointer], [422, '#/query']);
  });
});
