import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { fillDemo } from '../../demo/fill.ts';
import { muster, temporaryFolder } from '../../test/process.ts';
import { onBothEngines, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { expireAcceptances } from '../jobs/acceptances.ts';
import { writeDatedEvents } from '../jobs/dated-events.ts';
import { openDatabase } from '../store/open.ts';
import { isTemporary, referencesOf, type TableName } from '../store/tables.ts';
import { checkCommand, checkReport } from './check.ts';
import { uniqueRules } from './checks/values.ts';

const noProgress = () => {};

/** Changes that no request can make, and the rules that they break. The first project has risks, issues and tasks. */
const damages: [statement: string, area: string, rule: RegExp][] = [
  [
    'update projects set active_risks = active_risks + 1 where id = (select min(id) from projects)',
    'counters',
    /active_risks/,
  ],
  [
    'update projects set unassessed_risks = 99 where id = (select min(id) from projects)',
    'counters',
    /unassessed_risks/,
  ],
  [
    'update projects set open_issues = 99 where id = (select min(id) from projects)',
    'counters',
    /open_issues/,
  ],
  [
    'update projects set critical_issues = 99 where id = (select min(id) from projects)',
    'counters',
    /critical_issues/,
  ],
  ...['score', 'residual_score'].map((column): (typeof damages)[number] => [
    `update risks set ${column} = 1 + coalesce(${column}, 0) where id = (select min(id) from risks)`,
    'ranks',
    new RegExp(`^risks\\.${column} follows`),
  ]),
  [
    'update risks set impact = 6 where id = (select max(id) from risks)',
    'ranks',
    /on the scales of the risk model/,
  ],
  ...['level', 'residual_level', 'rank_key'].map((column): (typeof damages)[number] => [
    `update past_risks set ${column} = case ${column} when 'high' then 'low' else 'high' end where id = (select max(id) from past_risks)`,
    'ranks',
    new RegExp(`^past_risks\\.${column} follows`),
  ]),
  ["update risks set key = 'NOPE-R1' where id = (select min(id) from risks)", 'keys', /each of risks/],
  ["update issues set key = key || 'x' where id = (select min(id) from issues)", 'keys', /each of issues/],
  [
    'update projects set tasks_created = 0 where id = (select min(project_id) from tasks)',
    'keys',
    /each of tasks/,
  ],
  [
    "update tasks set status = 'blocked' where id = (select min(subject_id) from history where field = 'status' and subject_id like 'tsk%' and \"to\" = '\"done\"')",
    'history',
    /^tasks have/,
  ],
  [
    'delete from past_risks where id = (select min(id) from past_risks where id in (select id from risks))',
    'history',
    /earlier version/,
  ],
  [
    'update people set manager_user_id = user_id where user_id = (select min(user_id) from people)',
    'cycles',
    /manager_user_id/,
  ],
  ['update groups set parent_id = id where id = (select min(id) from groups)', 'cycles', /parent_id/],
  [
    "update people set name_folded = 'someone else' where user_id = (select min(user_id) from people)",
    'names',
    /folded texts of people/,
  ],
  [
    'update tasks set risk_id = (select min(id) from risks where project_id <> tasks.project_id) where id = (select min(id) from tasks)',
    'references',
    /tasks\.risk_id is in the same project/,
  ],
  [
    "update history set key_id = 'key_nobody' where id = (select min(id) from history)",
    'references',
    /history\.key_id names one of keys/,
  ],
  ["delete from data_versions where table_name = 'risks'", 'versions', /every table/],
  [
    'update issues set version = 0 where id = (select min(id) from issues)',
    'rows',
    /every row of issues is valid/,
  ],
];

onBothEngines('muster check', (start, engine) => {
  test('accepts what a running service writes besides resources', async (t) => {
    const { service, key } = await withKey(start(t, { environment: { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' } }));
    const input = { name: 'Apollo' };
    assert.equal((await service.post('/v1/projects', key, input, { 'idempotency-key': 'once' })).status, 201);
    const types = ['person.created'];
    const webhook = await service.make('/v1/webhooks', key, { url: 'http://127.0.0.1:9/', types });
    await service.post(`/v1/webhooks/${webhook.id}/test`, key, {});
    await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.make('/v1/keys', key, {
      name: 'short',
      scopes: ['personnel.read'],
      expires_at: '2099-01-01T00:00:00Z',
    });
    await writeDatedEvents(service.database, systemClock());
    await expireAcceptances(service.database, systemClock());
    assert.deepEqual((await checkCommand(service.database, noProgress)).violations, []);
  });

  test('accepts correct data, and names each rule that is broken', async (t) => {
    const { database } = await start(t);
    await fillDemo(database, systemClock());
    assert.deepEqual((await checkCommand(database, noProgress)).violations, []);
    await database.write(async (db) => {
      for (const [statement] of damages) await sql.raw(statement).execute(db);
    });
    const { violations } = await checkCommand(database, noProgress);
    for (const [statement, area, rule] of damages) {
      const found = violations.find((violation) => violation.area === area && rule.test(violation.rule));
      assert.ok(found, `${statement}: ${JSON.stringify(violations)}`);
      assert.ok(found.rows > 0 && found.samples.length > 0);
    }
  });

  test('names the only keys that can manage access if they end within 30 days', async (t) => {
    const service = await start(t);
    const { database } = service;
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const lasting = await service.key();
    const make = (name: string, days: number, scopes = ['keys.manage']) =>
      service.make('/v1/keys', lasting, { name, scopes, expires_at: inDays(days) });
    await make('short', 29);
    await make('no administrator', 31, ['projects.manage']);
    const end = (until: string) =>
      database.write((db) =>
        sql`update keys set expires_at = ${until} where name not in ('short', 'no administrator')`.execute(
          db,
        ),
      );
    const warnings = async () => (await checkCommand(database, noProgress)).warnings;
    assert.deepEqual(await warnings(), []);
    await end(inDays(31));
    assert.deepEqual(await warnings(), []);
    await end(inDays(-1));
    const [warning = '', ...others] = await warnings();
    assert.match(warning, /only short can, and ends within 30 days/);
    assert.deepEqual(others, []);
    const result = await checkCommand(database, noProgress);
    assert.deepEqual(result.violations, []);
    assert.match([...checkReport(result)].join('\n'), /^access: soon nobody .*\n.*all is well\.$/);

    const ada = await service.member(['keys.manage']);
    await end(inDays(-1));
    assert.equal((await warnings()).length, 1, 'who can sign in only with an invitation');
    const row = { user_id: ada.user_id, hash: 'x', set_at: '2026-11-19T00:00:00.000Z' };
    await database.write((db) => db.insertInto('passwords').values(row).execute());
    assert.deepEqual(await warnings(), []);
    const end_on = inDays(20).slice(0, 10);
    await database.write((db) => db.updateTable('people').set({ end_on }).execute());
    assert.match((await warnings()).join(), /only Member and short can, and ends within 30 days/);
  });

  test('validates the values of every row', async (t) => {
    const { database } = await start(t);
    await fillDemo(database, systemClock());
    // SQLite can hold any value in a column of integers.
    const values = engine === 'sqlite' ? ['99', '1.5', "'abc'"] : ['99'];
    const { rows } = await sql<{ key: string }>`
      select key from risks order by id limit ${values.length}`.execute(database.db);
    await database.write(async (db) => {
      for (const [i, value] of values.entries())
        await sql`update risks set residual_probability = ${sql.raw(value)} where key = ${rows[i]?.key}`.execute(
          db,
        );
    });
    const { violations } = await checkCommand(database, noProgress);
    const found = violations.find(({ rule }) => rule === 'every row of risks is valid');
    assert.deepEqual(
      found?.samples.sort(),
      rows
        .map(
          ({ key }, i) =>
            `${key} (residual_probability must be ${i === 0 ? '7 or less' : 'a whole number or null'})`,
        )
        .sort(),
    );
  });

  test('checks every column that refers to a row', async (t) => {
    const { database } = await start(t);
    // Past versions, history, events and hand-overs may name what was deleted since.
    const exempt =
      /^past_risks\.|\.(external_id|subject_id|event_id|credential_id|(old|new)_id|(actor|author)_user_id)$|^(events|handover_items)\.project_id$/;
    for (const { table, columns, primaryKey } of await database.describeTables(database.db)) {
      for (const { name } of columns.filter(({ name }) => name.endsWith('_id'))) {
        const isOwnId = primaryKey.length === 1 && primaryKey[0] === name;
        if (isOwnId || exempt.test(`${table}.${name}`)) continue;
        assert.ok(
          referencesOf(table as TableName)[name],
          `add ${table}.${name} to the references of its table`,
        );
      }
    }
  });
});

onBothEngines('the rules about unique values', (start, engine) => {
  test('are as many as the unique indexes of each table', async (t) => {
    const { database } = await start(t);
    const { rows } = await sql<{ table: string }>`${
      engine === 'sqlite'
        ? sql`select tables.name as "table" from sqlite_schema as tables, pragma_index_list(tables.name) as indexes
            where tables.type = 'table' and indexes."unique" = 1 and indexes.origin <> 'pk'`
        : sql`select indrelid::regclass::text as "table" from pg_index join pg_class on oid = indrelid
            where indisunique and not indisprimary and relnamespace = current_schema()::regnamespace`
    }`.execute(database.db);
    const expected = rows.map(({ table }) => table).filter((table) => !isTemporary(table as TableName));
    assert.deepEqual(uniqueRules.map(({ table }) => table).sort(), expected.sort());
  });
});

test('muster check prints what is wrong and exits with 1', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  const right = await muster(folder, ['check']);
  assert.equal(right.code, 0, right.stderr);
  assert.match(right.stdout, /^sqlite:data\/muster\.db: \d+ checks in [\d.]+ s, all is well\.\n$/);
  const database = openDatabase(`sqlite:${folder}/data/muster.db`);
  await database.write((db) => sql`delete from data_versions where table_name = 'risks'`.execute(db));
  await database.close();
  const wrong = await muster(folder, ['check']);
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stdout,
    /^versions: not true that every table has a version: risks\.\n.*, 1 are not true\.\n$/,
  );
  const { violations } = JSON.parse((await muster(folder, ['check', '--json'])).stdout);
  assert.deepEqual(violations, [
    { area: 'versions', rule: 'every table has a version', rows: 1, samples: ['risks'] },
  ]);
});
