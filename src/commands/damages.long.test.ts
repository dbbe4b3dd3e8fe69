import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { copyOf, type Engine, migratedDatabase, type TestDatabase } from '../../test/databases.ts';
import { muster, temporaryFolder } from '../../test/process.ts';
import { startTestService } from '../../test/service.ts';
import { openDatabase } from '../store/open.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { checkCommand } from './check.ts';

const first = (table: string, id = 'id') => `${id} = (select min(${id}) from ${table})`;
const entry = (field: string, more = '') =>
  `(subject_id, at, id) in (select subject_id, at, id from history where field = '${field}'${more} order by at, id limit 1)`;
const lastEvent = `sequence = (select max(sequence) from events where type = 'risk.updated')`;
const missing = (prefix: string) => `'${prefix}_${'0'.repeat(26)}'`;

/** What a bug, an operator with a shell or a broken disk can do to the rows of a small database, one statement each. */
const damages: string[] = [
  // Rows that nothing refers to, or that refer to nothing.
  `update passwords set user_id = ${missing('usr')}`,
  `update memberships set user_id = ${missing('usr')}`,
  `update memberships set group_id = ${missing('grp')}`,
  `update risks set project_id = ${missing('prj')} where ${first('risks')}`,
  `update risks set owner_user_id = ${missing('usr')} where ${first('risks')}`,
  `update issues set risk_id = ${missing('rsk')}`,
  `update tasks set assignee_user_id = ${missing('usr')}`,
  `update comments set subject_id = ${missing('rsk')}`,
  `update people set manager_user_id = ${missing('usr')} where ${first('people', 'user_id')}`,
  `update groups set lead_user_id = ${missing('usr')} where ${first('groups')}`,
  `insert into identities values ('https://login.example.com', 'x', ${missing('usr')}, '2026-01-01T00:00:00.000Z')`,
  `insert into synced_people values ('hr', ${missing('usr')}, 0)`,
  `delete from projects where ${first('projects')}`,
  'delete from people',
  // Limits.
  `update keys set project_ids = '["prj_${'0'.repeat(26)}"]' where name = 'limited'`,
  `update webhooks set project_ids = '["prj_${'0'.repeat(26)}"]'`,
  // Tables, indexes, constraints.
  'drop index people_email',
  'drop index risks_rank_key',
  'drop index risks_external_id',
  'drop index events_subject_id',
  'drop table known_clients',
  'drop table views',
  'alter table views add column extra text',
  'alter table people rename column phone to telephone',
  `create trigger forget after insert on history begin delete from history where id = new.id; end`,
  'create table other (a text)',
  'drop index tasks_due_key; create index tasks_due_key on tasks (due_on)',
  // Values that must be unique.
  `drop index people_email; update people set email = 'ADA@example.com'`,
  `drop index risks_external_id; update risks set external_id = 'same'`,
  `drop index views_list_name; insert into views select 'viw_' || substr(id, 5, 25) || 'z', version, created_at, updated_at, list, name, query from views`,
  `update events set id = (select min(id) from events)`,
  // Values that no schema allows.
  `update people set email = x'00ff' where ${first('people', 'user_id')}`,
  `update risks set title = x'6162' where ${first('risks')}`,
  `update risks set probability = 99 where ${first('risks')}`,
  `update risks set impact = 1.5 where ${first('risks')}`,
  `update risks set status = 'gone' where ${first('risks')}`,
  `update risks set attributes = '{' where ${first('risks')}`,
  `update risks set title = 'a' || char(7) where ${first('risks')}`,
  `update people set skills = 'none' where ${first('people', 'user_id')}`,
  `update people set start_on = '2026-02-30' where ${first('people', 'user_id')}`,
  `update people set time_zone = 'Mars/Olympus' where ${first('people', 'user_id')}`,
  `update issues set due_on = '2026-13-01'`,
  `update events set data = x'00' where ${lastEvent}`,
  `update events set data = '{' where ${lastEvent}`,
  `update keys set hash = 'short' where name = 'limited'`,
  `update settings set value = 'Mars/Olympus' where name = 'time_zone'`,
  `insert into settings values ('history_start', 'soon')`,
  `insert into risk_models values (1, 'rmv_1', x'00', '{}', null, null, null, null, 'x', '2026-01-01T00:00:00.000Z')`,
  // Dates and states.
  `update people set start_on = '2026-02-02', end_on = '2026-02-01' where ${first('people', 'user_id')}`,
  `update projects set start_on = '2026-02-02', due_on = '2026-02-01' where ${first('projects')}`,
  `update tasks set start_on = '2026-02-02', due_on = '2026-02-01'`,
  `update issues set due_on = '2001-01-01'`,
  `update people set updated_at = '2001-01-01T00:00:00.000Z' where ${first('people', 'user_id')}`,
  `update groups set updated_at = '2999-01-01T00:00:00.000Z' where ${first('groups')}`,
  `update history set at = '2999-01-01T00:00:00.000Z' where ${entry('created')}`,
  `update events set at = '2999-01-01T00:00:00.000Z' where ${lastEvent}`,
  `update risks set owner_user_id = (select min(user_id) from people), owner_group_id = (select min(id) from groups)`,
  `update risks set accepted_until = null where status = 'accepted'`,
  `update risks set acceptance_reason = 'x' where status <> 'accepted'`,
  `update past_risks set closure_reason = 'x'`,
  `update keys set previous_hash = '${'a'.repeat(64)}' where name = 'limited'`,
  `update webhooks set last_sequence = 9007199254740991`,
  // Versions.
  `update data_versions set version = 9007199254740991 where table_name = 'risks'`,
  `update data_versions set version = 9007199254740991 where table_name = 'events'`,
  `update data_versions set version = 9007199254740991 where table_name = 'deleted_events'`,
  `update data_versions set version = -1 where table_name = 'people'`,
  `delete from data_versions where table_name = 'issues'`,
  `update risks set version = version + 1 where ${first('risks')}`,
  `update people set version = 7 where ${first('people', 'user_id')}`,
  `update tasks set version = 7`,
  // What follows from other values.
  `update people set name_folded = 'x' where ${first('people', 'user_id')}`,
  `update people set search_folded = 'x' where ${first('people', 'user_id')}`,
  `update people set skills_folded = 'x' where ${first('people', 'user_id')}`,
  `update people set department_folded = 'x' where ${first('people', 'user_id')}`,
  `update risks set search_folded = 'x' where ${first('risks')}`,
  `update past_risks set search_folded = 'x'`,
  `update tasks set search_folded = 'x'`,
  `update risks set score = 1 where score > 1`,
  `update risks set level = 'low' where score > 1`,
  `update risks set rank_key = 'x' where ${first('risks')}`,
  `update risks set initial_score = null where score > 1`,
  `update risks set initial_score = initial_score + 1 where version > 1 and score > 1`,
  `update past_risks set initial_score = 3 where version = 1 and score > 3`,
  `update projects set active_risks = 99 where ${first('projects')}`,
  `update projects set risks_created = 0 where risks_created > 0`,
  `update risks set key = 'NOPE-R1' where ${first('risks')}`,
  // Past versions.
  `update past_risks set valid_until = '2999-01-01T00:00:00.000Z' where version = 1`,
  `update past_risks set valid_until = updated_at`,
  `update past_risks set project_id = ${missing('prj')}`,
  `update past_risks set key = 'NOPE-R1'`,
  `update past_risks set status = 'monitoring' where status = 'open'`,
  `delete from past_risks where version = 1`,
  `update past_risks set id = ${missing('rsk')} where rowid = 1`,
  // History.
  `delete from history where ${entry('created', ` and subject_id like 'rsk%'`)}`,
  `delete from history where ${entry('status', ` and "to" = '"mitigating"'`)}`,
  `delete from history where ${entry('title', ` and "to" = '"Third"'`)}`,
  `update history set "from" = '"Nowhere"' where ${entry('title', ` and "to" = '"Third"'`)}`,
  `update history set "to" = '"Nowhere"' where ${entry('title', ` and "to" = '"Third"'`)}`,
  `update history set subject_id = ${missing('rsk')} where ${entry('status')}`,
  `update history set key_id = ${missing('key')} where ${entry('created')}`,
  // Events.
  `delete from events where ${lastEvent}`,
  `update events set type = 'risk.deleted' where ${lastEvent}`,
  `update events set subject_id = ${missing('rsk')} where ${lastEvent}`,
  `update events set data = json_set(data, '$.version', 99) where ${lastEvent}`,
  `update events set data = json_set(data, '$.title', 'Other') where ${lastEvent}`,
  `delete from events where type = 'risk.deleted'`,
  `delete from events where type = 'person.created'`,
  // Trees.
  `update people set manager_user_id = user_id where ${first('people', 'user_id')}`,
  `update groups set parent_id = id where ${first('groups')}`,
];

/** What only SQLite can store, or says in this way. */
const isOfSqlite = (statement: string) => /x'|1\.5|char\(7\)|rowid|json_set|create trigger/.test(statement);

/** What only PostgreSQL lets its owner do. */
const ofPostgres = [
  'alter table risks drop constraint risks_project',
  'alter table people drop constraint people_pkey cascade',
  'alter table keys drop constraint keys_hash_key',
  'alter table keys drop constraint keys_hash_key; update keys set hash = (select min(hash) from keys)',
  'alter table views alter column name drop not null; update views set name = null',
  'alter table passwords drop constraint passwords_user_id_fkey; delete from people',
  `update pg_index set indisvalid = false where indexrelid = 'risks_rank_key'::regclass`,
];

/** What the check does not find: each with the reason. */
const unseen: Record<string, string> = {
  [`update people set version = 7 where ${first('people', 'user_id')}`]:
    'memberships change people without an event of theirs',
  "delete from events where type = 'person.created'":
    'events end after some time, so the first ones may be missing',
  'create table other (a text)': 'it may be of another program',
};

async function smallDatabase(engine: Engine): Promise<TestDatabase> {
  const target = await migratedDatabase(engine);
  const closing: (() => Promise<void>)[] = [];
  const t = { after: (close: () => Promise<void>) => void closing.push(close) };
  const drop = async () => {};
  const service = await startTestService(t as never, engine, { target: { ...target, drop } });
  const key = await service.key();
  const ada = await service.make('/v1/personnel', key, {
    name: 'Ada',
    email: 'ada@example.com',
    department: 'IT',
    skills: ['go'],
  });
  const bob = await service.make('/v1/personnel', key, {
    name: 'Bob',
    email: 'bob@example.com',
    manager_user_id: ada.user_id,
  });
  await service.patch(`/v1/personnel/${bob.user_id}`, key, { title: 'Engineer' });
  const group = await service.make('/v1/groups', key, { name: 'Platform' });
  await service.post(`/v1/groups/${group.id}/members`, key, { user_ids: [ada.user_id] });
  const project = await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
  await service.patch(`/v1/projects/${project.id}`, key, { description: 'To the moon' });
  const risks = `/v1/projects/${project.id}/risks`;
  const accepted_until = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);
  const risk = await service.make(risks, key, {
    title: 'First',
    probability: 3,
    impact: 4,
    owner_user_id: ada.user_id,
  });
  const accepted = await service.make(risks, key, { title: 'Second', probability: 2, impact: 2 });
  const deleted = await service.make(risks, key, { title: 'Gone' });
  for (const [id, patch] of [
    [deleted.id, { title: 'Gone soon' }],
    [risk.id, { title: 'Another' }],
    [risk.id, { title: 'Third' }],
    [risk.id, { title: 'Fourth', impact: 5 }],
    [risk.id, { status: 'mitigating' }],
    [risk.id, { status: 'monitoring', reason: 'Better.' }],
    [accepted.id, { status: 'accepted', acceptance_reason: 'Insured.', accepted_until }],
  ] as const) {
    const { status, text } = await service.patch(`${risks}/${id}`, key, patch);
    assert.equal(status, 200, text);
  }
  await service.call('DELETE', `${risks}/${deleted.id}`, key);
  const issue = await service.make(`/v1/projects/${project.id}/issues`, key, { title: 'Leak' });
  await service.make(`/v1/projects/${project.id}/tasks`, key, { title: 'Fix', issue_id: issue.id });
  await service.make(`${risks}/${risk.id}/comments`, key, { body: 'Look.' });
  await service.make('/v1/views', key, { list: 'risks', name: 'High', query: 'level=high' });
  await service.make('/v1/webhooks', key, { url: 'https://example.com/', types: ['risk.created'] });
  await service.make('/v1/keys', key, {
    name: 'limited',
    scopes: ['projects.read'],
    project_ids: [project.id],
  });
  const set_at = '2026-11-19T00:00:00.000Z';
  await service.database.write(async (db) => {
    await db.insertInto('passwords').values({ user_id: ada.user_id, hash: 'x', set_at }).execute();
    await db.insertInto('settings').values({ name: 'time_zone', value: 'UTC' }).execute();
  });
  for (const close of closing) await close();
  return target;
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`muster check finds damages of many kinds, and a backup that was written can be restored, on ${engine}`, async (t) => {
    const folder = temporaryFolder(t);
    const whole = await smallDatabase(engine);
    t.after(whole.drop);
    const possible =
      engine === 'sqlite' ? damages : [...damages.filter((damage) => !isOfSqlite(damage)), ...ofPostgres];
    const missed: string[] = [];
    const wrong: string[] = [];
    for (const damage of ['select 1', ...possible]) {
      const copy = await copyOf(whole);
      await harm(copy, damage);
      const database = openDatabase(copy.url);
      const { violations } = await checkCommand(database, () => {});
      if (damage === 'select 1') assert.deepEqual(violations, []);
      else if (violations.length === 0) missed.push(damage);
      const file = join(folder, 'a.backup');
      const error = await backupCommand(database, file, () => {}).then(
        () => undefined,
        ({ message }: Error) => message,
      );
      await database.close();
      await copy.drop();
      if (error !== undefined) {
        if (!/^The database .* is damaged: .* No backup was written/.test(error) || existsSync(file))
          wrong.push(`${damage}: ${error}`);
        continue;
      }
      const restored = openDatabase(`sqlite:${join(folder, 'restored.db')}`);
      await restoreCommand(restored, file, { onProgress() {} }).catch(({ message }: Error) =>
        wrong.push(`${damage}: the backup cannot be restored: ${message}`),
      );
      await restored.close();
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      missed,
      possible.filter((damage) => unseen[damage]),
    );
    t.diagnostic(`${possible.length - missed.length} of ${possible.length} damages were found`);
  });
}

/** Runs a statement without regard to foreign keys. It must change something. */
async function harm({ url }: TestDatabase, statement: string): Promise<void> {
  const isDefinition = /^(drop|create|alter|select)/.test(statement);
  let changes: number;
  if (url.startsWith('sqlite:')) {
    const connection = new Sqlite(url.slice('sqlite:'.length));
    connection.pragma('foreign_keys = off');
    connection.exec(statement);
    changes = connection.prepare<[], number>('select total_changes()').pluck().get() ?? 0;
    connection.close();
  } else {
    const client = new pg.Client(url);
    await client.connect();
    await client.query('set session_replication_role = replica');
    const { rowCount } = await client.query(statement).finally(() => client.end());
    changes = rowCount ?? 0;
  }
  assert.ok(isDefinition || changes > 0, `nothing is damaged: ${statement}`);
}

test('muster backup --verify restores what it wrote', async (t) => {
  const folder = temporaryFolder(t);
  await muster(folder, ['migrate']);
  const TMPDIR = join(folder, 'elsewhere');
  const right = await muster(folder, ['backup', '--verify', '-o', 'a.backup'], { TMPDIR: folder });
  assert.deepEqual([right.code, right.stderr], [0, '']);
  assert.deepEqual(readdirSync(folder).sort(), ['a.backup', 'data']);
  const wrong = await muster(folder, ['backup', '--verify', '-o', 'b.backup'], { TMPDIR });
  assert.equal(wrong.code, 1, 'there is no place to restore it');
  const piped = await muster(folder, ['backup', '--verify', '-o', '-']);
  assert.match(piped.stderr, /^muster: --verify reads the backup again, so it needs a file/);
});
