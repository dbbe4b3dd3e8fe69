import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { freshDatabase } from '../../../test/databases.ts';
import { freePort } from '../../../test/ports.ts';
import { openDatabase } from '../../store/open.ts';
import { explainError, isAway } from './errors.ts';
import { createEventWatch } from './listen.ts';
import { hasPreparedStatements } from './pooler.ts';
import { explainStart } from './start-errors.ts';

async function startDatabase(t: TestContext) {
  const { url, drop } = await freshDatabase('postgres');
  t.after(drop);
  return url;
}

const closeAfter = (t: TestContext, url: string) => {
  const database = openDatabase(url);
  t.after(() => database.close());
  return database;
};

test('the start waits for a server that is not there yet, and says so once', async (t) => {
  const url = await startDatabase(t);
  const port = await freePort();
  const late = Object.assign(new URL(url), { port: String(port) }).href;
  const database = closeAfter(t, late);
  const waits: unknown[] = [];
  const reached = database.waitUntilReachable((error) => waits.push(error));
  while (waits.length === 0) await setTimeout(5);
  const server: Server = createServer((socket) => {
    const upstream = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pipe(upstream).on('error', () => socket.destroy());
    upstream.pipe(socket).on('error', () => upstream.destroy());
  });
  server.listen(port, '127.0.0.1');
  t.after(() => server.close());
  await reached;
  assert.equal(waits.length, 1);
});

test('the start gives up with one sentence, at once if waiting cannot help', async (t) => {
  const url = new URL(await startDatabase(t));
  const fail = async (change: Partial<URL>, maxMs: number) => {
    const waits: unknown[] = [];
    const database = closeAfter(t, Object.assign(new URL(url), change).href);
    const error = await database.waitUntilReachable((one) => waits.push(one), maxMs).catch((one) => one);
    assert.equal(error.name, 'UsageError', error.stack);
    return { message: error.message, waits: waits.length };
  };
  const absent = await fail({ port: String(await freePort()) }, 20);
  assert.match(absent.message, /cannot be reached \(connect ECONNREFUSED/);
  assert.equal(absent.waits, 1);
  const unknown = await fail({ pathname: '/nothing' }, 600_000);
  assert.match(unknown.message, /does not exist\. Run .*: CREATE DATABASE nothing OWNER postgres;$/);
  const rejected = await fail({ password: 'wrong' }, 600_000);
  assert.match(rejected.message, /cannot be reached \(password authentication failed/);
  assert.deepEqual([unknown.waits, rejected.waits], [0, 0]);
});

test('a missing right is one sentence with the statement that gives it', async (t) => {
  const { url, drop } = await freshDatabase('postgres');
  const owner = new pg.Client(url);
  await owner.connect();
  const role = `plain_${process.pid}_${Date.now()}`;
  await owner.query(`create role ${role} login password 'x'`);
  t.after(async () => {
    await owner.query(`drop owned by ${role}; drop role ${role}`);
    await owner.end();
    await drop();
  });
  const plainUrl = Object.assign(new URL(url), { username: role, password: 'x' }).href;
  const statementIn = ({ message }: Error) => {
    assert.match(message, new RegExp(`^The user ${role} .*\\. Run there as an administrator: `));
    return /(GRANT|ALTER).*;$/.exec(message)?.[0] ?? message;
  };
  const plain = closeAfter(t, plainUrl);
  const inSchema = statementIn(await plain.migrate().catch((error) => error));
  assert.equal(inSchema, `GRANT USAGE, CREATE ON SCHEMA public TO ${role};`);
  await closeAfter(t, url).migrate();
  const onTables = statementIn(await plain.checkSetup().catch((error) => error));
  assert.equal(onTables, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};`);
  await owner.query(inSchema);
  await owner.query(onTables);
  await plain.checkSetup();
  await owner.query('revoke execute on function pg_walfile_name from public');
  const onFunction = statementIn(await plain.checkSetup().catch((error) => error));
  assert.equal(onFunction, `GRANT EXECUTE ON FUNCTION pg_walfile_name TO ${role};`);
  await owner.query(onFunction);
  await plain.checkSetup();
  assert.deepEqual(await plain.migrate(), []);
});

test('a server has prepared statements of its own for each connection', async (t) => {
  assert.equal(await hasPreparedStatements(await startDatabase(t)), true);
});

test('a connection that waits for events and gets no response is given up', async (t) => {
  const connected = Promise.withResolvers<Socket>();
  const silent = createServer(connected.resolve).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const stop = createEventWatch(`postgres://a:b@127.0.0.1:${port}/x`, 30)(() => {});
  const socket = await connected.promise;
  await once(socket.resume(), 'close');
  stop();
});

test('a full disk is reported at once, not as a lost connection', () => {
  const error = Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' });
  // A lost connection is retried, and after the commit was sent its outcome is unknown.
  assert.equal(isAway(error), false);
  assert.equal(explainError(error)?.code, 'storage_full');
  assert.equal(isAway(Object.assign(new Error('too many clients'), { code: '53300' })), true);
});

test('errors of TLS say what to change', () => {
  const target = { name: 'postgres://a@db/m', user: 'a', database: 'm' };
  for (const [code, message, expected] of [
    ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in certificate chain', /sslrootcert=<file>/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', /sslrootcert=<file>/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Host: db. is not in the cert's altnames", /is for another host/],
    ['CERT_HAS_EXPIRED', 'certificate has expired', /is not valid \(certificate has expired\)/],
    ['ERR_OSSL_PEM_NO_START_LINE', 'no start line', /Check sslmode, and the files in sslrootcert/],
    ['', 'The server does not support SSL connections', /has no TLS.*ssl = on.*sslmode=disable/],
    ['28000', 'no pg_hba.conf entry for host "::1", user "a", no encryption', /Add sslmode=verify-full/],
    ['25006', 'cannot execute in a read-only transaction', /accepts no writes.*address of the primary/],
  ] as const) {
    const error = Object.assign(new Error(message), code && { code });
    assert.match(explainStart(error, target)?.message ?? '', expected, code);
  }
  assert.equal(explainStart(new Error('a bug'), target), undefined);
});
