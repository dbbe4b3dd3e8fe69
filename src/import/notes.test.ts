import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, pluck, withKey } from '../../test/service.ts';

onSqlite('notes beside names', (start) => {
  test('set the state of a person if they are known, and otherwise stay in the name', async (t) => {
    const { service, key } = await withKey(start(t));
    const file =
      'name,title\nGrace Hopper (Terminated),a\nMary Shelley (on leave),b\nAda Lovelace [C],c\nAlan Turing (Acme 50%),d\n';
    const { body } = await service.upload('/v1/personnel/import', key, file);
    assert.equal(body.summary.created, 4);
    assert.deepEqual(pluck(await service.list('/v1/personnel', key), 'name', 'status', 'kind'), [
      ['Ada Lovelace', 'active', 'external'],
      ['Alan Turing (Acme 50%)', 'active', 'human'],
      ['Grace Hopper', 'inactive', 'human'],
      ['Mary Shelley', 'active', 'human'],
    ]);
    assert.match(body.results[0].warnings[0].detail, /^“\(Terminated\)” after the name/);
  });

  test('do not decide over a column with the status', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.upload('/v1/personnel/import', key, 'name,status\nGrace (Terminated),active\n');
    assert.deepEqual(pluck(await service.list('/v1/personnel', key), 'name', 'status'), [
      ['Grace', 'active'],
    ]);
  });

  test('stay in the names of placeholders, but for addresses, logins and shares', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const owners = [
      'Ada (Acme 50%)',
      'Grace [50%]',
      'Mary (mshelley)',
      'Alan <alan@example.com>',
      'Eve (Terminated)',
    ];
    const path = '/v1/projects/APOLLO/risks/import?unknown_people=create';
    const { text } = await service.upload(
      path,
      key,
      `title,owner_name\n${owners.map((name) => `x,${name}`).join('\n')}\n`,
    );
    const names = pluck(await service.list('/v1/personnel', key), 'name');
    assert.deepEqual(names, ['Ada (Acme 50%)', 'Alan', 'Eve', 'Grace', 'Mary'], text);
  });

  test('are an error if the name is not that of the email address', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    await service.make('/v1/personnel', key, { name: 'Ada Lovelace', email: 'ada@example.com' });
    const owners = [
      'Ada <ada@example.com>',
      '"Lovelace, Ada <ada@example.com>"',
      'Grace Hopper <ada@example.com>',
    ];
    const { body } = await service.upload(
      '/v1/projects/APOLLO/risks/import',
      key,
      `title,owner_name\n${owners.map((name, i) => `r${i},${name}`).join('\n')}\n`,
    );
    assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'failed']);
    assert.match(body.results[2].errors[0].detail, /is that of Ada Lovelace/);
  });

  test('rows with only a total, or only a title in a plan of Smartsheet, are no items', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const file = 'Task Name,Predecessors,Start\nPhase one,,\nWrite,,2026-03-02\nTotal,,\n';
    const { body } = await service.upload('/v1/projects/APOLLO/tasks/import', key, file);
    assert.deepEqual([body.summary.rows, body.summary.created], [1, 1]);
    assert.deepEqual(pluck(body.summary.skipped_cells, 'line'), [2, 4]);
    const plain = await service.upload(
      '/v1/projects/APOLLO/tasks/import',
      key,
      'Task,Start\nTotal,\nRead,\n',
    );
    assert.deepEqual(
      pluck(await service.list('/v1/projects/APOLLO/tasks', key), 'title').sort(),
      ['Read', 'Write'],
      plain.text,
    );
  });
});
