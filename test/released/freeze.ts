import { writeFileSync } from 'node:fs';
import { Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { backupCommand, restoreCommand } from '../../src/commands/backup.ts';
import { version } from '../../src/core/version.ts';
import type { Engine } from '../../src/database/engine.ts';
import { postgresEngine } from '../../src/database/postgres/engine.ts';
import { sqliteEngine } from '../../src/database/sqlite/engine.ts';
import { defaultModel } from '../../src/resources/risk-model/schema.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openDatabase } from '../../src/store/open.ts';
import { allTables, backupTables, type Tables } from '../../src/store/tables.ts';
import { createCleanup } from '../cleanup.ts';
import { freshDatabase } from '../databases.ts';
import { startTestService } from '../service.ts';
import { hashMigrations, releasedFile } from './versions.ts';

/** What only a browser, the identity provider or the passing of time fills. */
const withoutRows = ['webhook_deliveries', 'event_checkpoints', 'passkeys', 'identities'];

/**
 * Writes the files of the current version, which the tests of later versions upgrade: a small database of each engine as
 * SQL, a backup, and the hashes of the migrations that this version adds.
 */
const backup = releasedFile(version, 'backup');
await writeBackup();
await writeDatabase('sqlite');
await writeDatabase('postgres');
writeFileSync(releasedFile(version, 'json'), `${JSON.stringify(hashMigrations(version), null, 2)}\n`);

/** Fills a database over HTTP, so that every table has rows, and backs it up. */
async function writeBackup(): Promise<void> {
  const cleanup = createCleanup();
  const environment = { MUSTER_TIME_ZONE: 'Europe/Berlin', MUSTER_WEBHOOK_ALLOW: '127.0.0.1' };
  const {
    key: createKey,
    limitedKey,
    make,
    post,
    call,
    database,
  } = await startTestService(cleanup, 'sqlite', { environment });
  const key = await createKey();
  const ada = await make('/v1/personnel', key, {
    name: 'Ada Łovelace',
    email: 'ada@example.com',
    skills: ['planning'],
    attributes: { badge: '7' },
  });
  const bob = await make('/v1/personnel', key, { name: 'Bob', manager_user_id: ada.user_id });
  const group = await make('/v1/groups', key, { name: 'Suppliers', lead_user_id: ada.user_id });
  await call('PUT', `/v1/groups/${group.id}/members/${bob.user_id}`, key);
  const project = await make('/v1/projects', key, { name: 'Apollo', lead_user_id: ada.user_id });
  await limitedKey([project.id], 'projects.read');
  const items = '/v1/projects/APOLLO';
  for (const [probability, impact] of [
    [5, 5],
    [3, 4],
    [1, 2],
    [null, 3],
  ]) {
    const risk = await make(`${items}/risks`, key, {
      title: `Rated ${probability} and ${impact}`,
      ...(probability !== null && { probability }),
      impact,
      owner_user_id: bob.user_id,
    });
    await call('PATCH', `${items}/risks/${risk.id}`, key, { due_on: '2099-01-31', residual_impact: 1 });
  }
  const gone = await make(`${items}/risks`, key, { title: 'Deleted', probability: 2, impact: 2 });
  await call('DELETE', `${items}/risks/${gone.id}`, key);
  const issue = await make(`${items}/issues`, key, { title: 'Late', assignee_user_id: bob.user_id });
  await make(`${items}/tasks`, key, { title: 'Call them', issue_id: issue.id });
  await make(`${items}/comments`, key, { body: `Ask @${ada.user_id}.` });
  await make('/v1/views', key, { list: 'risks', name: 'High', query: 'level=high' });
  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const response = await call(method, path, key, body, headers);
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response.body;
  };
  const csv = { 'content-type': 'text/csv' };
  await send('POST', '/v1/personnel/import?mode=sync&source=hr', 'external_id,name\n7,Cleo\n', csv);
  await send('POST', '/v1/groups/import?mode=sync&source=hr', 'external_id,name,members\n8,Buyers,7\n', csv);
  await send('POST', `${items}/tasks/import`, 'id,title\ntsk_01jd0000000000000000000000,Moved\n', csv);
  const leaver = await make('/v1/personnel', key, { name: 'Lea' });
  await make(`${items}/tasks`, key, { title: 'Hand over', assignee_user_id: leaver.user_id });
  await send('POST', `/v1/personnel/${leaver.user_id}/deactivate`, { handover_to_user_id: bob.user_id });
  await make('/v1/categories', key, { name: 'Supply' });
  await send('PATCH', '/v1/organization', { name: 'Meridian' });
  await send('PUT', '/v1/risk-model', { ...defaultModel, longest_acceptance_days: 200 });
  await make('/v1/mappings', key, { list: 'risks', name: 'jira', query: 'preset=jira' });
  await make('/v1/reports', key, { title: 'November', since: '2026-11-01' });
  await send('PUT', `/v1/personnel/${ada.user_id}/access`, { scopes: ['keys.manage'], project_ids: null });
  const { url } = await send('POST', `/v1/personnel/${ada.user_id}/invitation`);
  const invitation = { token: url.split('#')[1], password: 'four words and a badger' };
  await call('POST', '/v1/invitations/accept', undefined, invitation, { 'sec-fetch-site': 'same-origin' });
  await make('/v1/webhooks', key, { url: 'http://127.0.0.1:9/', types: ['person.created'] });
  await post('/v1/groups', key, { name: 'Once' }, { 'idempotency-key': 'once' });
  const empty = [];
  for (const table of backupTables) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(database.db);
    if (rows.length === 0) empty.push(table);
  }
  if (empty.join() !== withoutRows.join()) throw new Error(`Tables without rows: ${empty.join(', ')}.`);
  await backupCommand(database, backup, () => {});
  await cleanup.run();
}

/** Restores the backup and writes the database as SQL. */
async function writeDatabase(kind: Engine['kind']): Promise<void> {
  const { url, drop } = await freshDatabase(kind);
  const database = openDatabase(url);
  await restoreCommand(database, backup, { onProgress: () => {} });
  const statements = await recordMigrations(kind);
  const stored = await database.describeTables(database.db);
  for (const table of [...allTables, DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE]) {
    const { columns = [], primaryKey = [] } = stored.find((found) => found.table === table) ?? {};
    const named = columns.map(({ name }) => sql.ref(name));
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.join(named)} from ${sql.table(table)}
      order by ${sql.join(primaryKey.map((name) => sql.ref(name)))}`.execute(database.db);
    const list = columns.map(({ name }) => `"${name}"`).join(', ');
    for (const row of rows)
      statements.push(
        `insert into "${table}" (${list}) values (${Object.values(row).map(literal).join(', ')})`,
      );
  }
  await database.close();
  await drop();
  writeFileSync(releasedFile(version, `${kind}.sql`), `${statements.join(';\n')};\n`);
}

/** The statements by which the migrations create the tables. */
async function recordMigrations(kind: Engine['kind']): Promise<string[]> {
  const { url, drop } = await freshDatabase(kind);
  const engine = kind === 'sqlite' ? sqliteEngine(url.slice('sqlite:'.length)) : postgresEngine(url);
  engine.createIfMissing?.();
  const statements: string[] = [];
  const db = new Kysely<Tables>({
    dialect: engine.migrationDialect?.() ?? engine.dialects.write,
    log: ({ query }) => void statements.push(query.sql),
  });
  await migrate(db, engine);
  await db.destroy();
  await engine.close();
  await drop();
  return statements.filter((statement) => /^\s*(create|alter|drop|do)\b/.test(statement));
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}
