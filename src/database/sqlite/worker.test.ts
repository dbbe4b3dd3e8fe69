import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { temporaryFolder } from '../../../test/process.ts';
import { freshDatabase } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { createPerson, personRow } from '../../resources/personnel/queries.ts';
import { openDatabase } from '../../store/open.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';
import { insertRows } from '../../store/writes/rows.ts';

/** The number of connections for streams. */
const connections = 8;

const started: Worker[] = [];
process.on('worker', (worker) => started.push(worker));

test('a long read does not block the event loop', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  const long = { isOver: false };
  const counted = countUpTo(db, 2_000_000).finally(() => {
    long.isOver = true;
  });
  let ticks = 0;
  for (; !long.isOver; ticks++) await setImmediate();
  assert.equal(await counted, 2_000_000);
  assert.ok(ticks >= 20, `${ticks} ticks`);
  await end();
});

test('a quick read does not start a thread', async (t) => {
  const database = await open(t);
  const before = started.length;
  const { db, end } = await database.snapshot();
  assert.equal(await countUpTo(db, 10), 10);
  await end();
  await setImmediate();
  assert.equal(started.length, before);
});

test('a stream returns every row once, in order, for any slice size', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  const expected = Array.from({ length: 100 }, (_, i) => i + 1);
  for (const sliceRows of [1, 7, 50, 99, 100, 101]) {
    const seen: number[] = [];
    for await (const { n } of numbers(db).limit(100).stream(sliceRows)) seen.push(n);
    assert.deepEqual(seen, expected, `slices of ${sliceRows}`);
  }
  await end();
});

test('a stream is read only as far as its consumer reads, and releases its connection', async (t) => {
  const database = await open(t);
  for (let round = 0; round < 20; round++) {
    const { db, end } = await database.snapshot('stream');
    const seen: number[] = [];
    for await (const { n } of numbers(db).stream(10)) if (seen.push(n) === 25) break;
    assert.equal(seen.at(-1), 25);
    assert.equal(await countUpTo(db, 3), 3);
    await end();
  }
});

test('concurrent streams make progress in turns', async (t) => {
  const database = await open(t);
  const snapshots = await Promise.all(Array.from({ length: connections }, () => database.snapshot('stream')));
  const streams = snapshots.map(({ db }) => numbers(db).stream(10));
  for (let n = 1; n <= 100; n++) {
    for (const stream of streams) assert.deepEqual((await stream.next()).value, { n });
  }
  for (const stream of streams) await stream.return?.();
  for (const { end } of snapshots) await end();
});

test('an error keeps its code, and the connection stays usable', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  await assert.rejects(sql`select 1 from nowhere`.execute(db), {
    code: 'SQLITE_ERROR',
    message: 'no such table: nowhere',
  });
  const rejected = await sql`delete from people`.execute(db).catch((error) => error);
  assert.equal(rejected.code, 'SQLITE_READONLY');
  assert.equal(database.explain(rejected)?.code, 'unavailable');
  await assert.rejects(sql`select ${{ no: 'value' }}`.execute(db), /bind/);
  const unsendable = CompiledQuery.raw('select ?', [1n]);
  await assert.rejects(db.executeQuery(unsendable), /serialize a BigInt/);
  assert.equal(await countUpTo(db, 3), 3);
  await end();
});

test('an error in the middle of a stream is thrown at its row', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  const broken = numbers(db).select(sql`json(case n when 25 then '{' else '{}' end)`.as('json'));
  const stream = broken.stream(10);
  for (let n = 1; n <= 20; n++) assert.equal((await stream.next()).value?.n, n);
  await assert.rejects(stream.next(), { code: 'SQLITE_ERROR', message: 'malformed JSON' });
  assert.equal(await countUpTo(db, 3), 3);
  await end();
});

test('a stream snapshot does not see later writes', async (t) => {
  const database = await open(t);
  const people = async (db: Kysely<Tables>) =>
    (await db.selectFrom('people').select('user_id').execute()).length;
  const { db, end } = await database.snapshot('stream');
  assert.equal(await people(db), 0);
  await database.write((db) => createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test')));
  assert.equal(await people(db), 0);
  await end();
  const later = await database.snapshot('stream');
  assert.equal(await people(later.db), 1);
  await later.end();
});

test('when the thread dies, its reads and snapshots fail, and new snapshots start a new thread', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  const idle = await database.snapshot('stream');
  const stream = numbers(idle.db).stream(10);
  await stream.next();
  const counting = countUpTo(db, 100_000).catch((error) => error);
  await started.at(-1)?.terminate();

  const lost = await counting;
  assert.equal(lost.code, 'SQLITE_ABORT');
  assert.equal(database.explain(lost)?.code, 'unavailable');
  await stream.return?.();
  await assert.rejects(countUpTo(idle.db, 3), { code: 'SQLITE_ABORT' });
  await end();
  await idle.end();
  for (let round = 0; round < 2 * connections; round++) {
    const next = await database.snapshot('stream');
    assert.equal(await countUpTo(next.db, 3), 3);
    await next.end();
  }
});

test('a bulk write does not block the event loop, and other writes run after it', async (t) => {
  const database = await open(t);
  const order: string[] = [];
  const bulk = database.write(async (db, hasWaiters) => {
    assert.equal(hasWaiters?.(), false);
    const quick = database.write(async () => order.push('quick'));
    assert.equal(hasWaiters?.(), true);
    let ticks = 0;
    const long = { isOver: false };
    const counted = countUpTo(db, 2_000_000).finally(() => {
      long.isOver = true;
    });
    for (; !long.isOver; ticks++) await setImmediate();
    await counted;
    assert.ok(ticks >= 20, `${ticks} ticks`);
    order.push('bulk');
    return { quick };
  }, 'bulk');
  await (await bulk).quick;
  assert.deepEqual(order, ['bulk', 'quick']);
});

test('many concurrent writes do not starve the event loop', async (t) => {
  const database = await open(t);
  const writers = { left: 40 };
  for (let i = writers.left; i > 0; i--) {
    void database.write(async () => {
      const end = performance.now() + 3;
      while (performance.now() < end);
      writers.left--;
    });
  }
  let turns = 0;
  for (; writers.left > 0; turns++) await setImmediate();
  assert.ok(turns >= 30, `${turns} turns`);
});

test('a failed batch fails the whole bulk write, even if no statement follows', async (t) => {
  const database = await open(t);
  const row = personRow(newId('person'), { name: 'Ada' }, systemClock());
  const other = personRow(newId('person'), { name: 'Bob' }, systemClock());
  for (const rows of [[row, row], [other]]) {
    const writing = database.write(async (db) => {
      await insertRows(db, 'people', [row]);
      await insertRows(db, 'people', rows);
      if (rows[0] === other) await insertRows(db, 'people', [row]);
    }, 'bulk');
    await assert.rejects(writing, { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  }
  assert.deepEqual(await database.db.selectFrom('people').selectAll().execute(), []);
  await database.write((db) => insertRows(db, 'people', [row, other]), 'bulk');
  assert.equal((await database.db.selectFrom('people').selectAll().execute()).length, 2);
});

test('bulk writes in one process do not starve writes in another process', async (t) => {
  const { url, drop } = await freshDatabase('sqlite');
  const [busy, other] = [openDatabase(url), openDatabase(url)];
  t.after(async () => {
    await Promise.all([busy.close(), other.close()]);
    await drop();
  });
  await busy.migrate();
  const writing = { isOver: false };
  const bulk = (async () => {
    for (let i = 0; !writing.isOver; i++) {
      await busy.write(async (db) => {
        await createPerson(db, { name: `Person ${i}` }, bySystem(systemClock(), 'a test'));
        await countUpTo(db, 200_000);
      }, 'bulk');
    }
  })();
  for (let i = 0; i < 5; i++) {
    await other.write((db) => createPerson(db, { name: 'Ada' }, bySystem(systemClock(), 'a test')));
  }
  writing.isOver = true;
  await bulk;
});

test('when the thread dies, a bulk write is rolled back, and the next one succeeds', async (t) => {
  const database = await open(t);
  const people = async () => (await database.db.selectFrom('people').selectAll().execute()).length;
  const create = (name: string) => (db: Transaction<Tables>) =>
    createPerson(db, { name }, bySystem(systemClock(), 'a test'));
  const lost = await database
    .write(async (db) => {
      await create('Ada')(db);
      const counting = countUpTo(db, 10_000_000);
      await started.at(-1)?.terminate();
      return counting;
    }, 'bulk')
    .catch((error) => error);
  assert.equal(database.explain(lost)?.code, 'unavailable');
  assert.equal(await people(), 0);
  await database.write(create('Bob'));
  await database.write(create('Cem'), 'bulk');
  assert.equal(await people(), 2);
});

test('closing the database ends the thread and fails its running statements', async (t) => {
  const database = await open(t);
  const { db, end } = await database.snapshot('stream');
  const ending = await database.snapshot('stream');
  const thread = started.at(-1);
  const counting = assert.rejects(countUpTo(db, 1_000_000), { code: 'SQLITE_ABORT' });
  const ended = ending.end();
  await database.close();
  await counting;
  await ended;
  await end();
  assert.equal(thread?.threadId, -1);
});

test('an idle thread does not keep the process running', { timeout: 60_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const script = join(folder, 'script.mjs');
  writeFileSync(
    script,
    `import { openDatabase } from '${import.meta.resolve('../../store/open.ts')}';
    const database = openDatabase('sqlite:${join(folder, 'muster.db')}');
    await database.migrate();
    const { db } = await database.snapshot('stream');
    console.log(await db.selectFrom('people').selectAll().execute());`,
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(printed, '[]\n');
  assert.equal(code, 0);
});

async function open(t: TestContext) {
  const { url, drop } = await freshDatabase('sqlite');
  const database = openDatabase(url);
  t.after(async () => {
    await database.close();
    await drop();
  });
  await database.migrate();
  return database;
}

/** 1, 2, 3 and so on, infinitely. */
const numbers = (db: Kysely<Tables>) =>
  db
    .withRecursive('numbers(n)', (db) =>
      db
        .selectNoFrom(sql<number>`1`.as('n'))
        .unionAll(db.selectFrom('numbers').select(sql<number>`n + 1`.as('n'))),
    )
    .selectFrom('numbers')
    .select('n');

async function countUpTo(db: Kysely<Tables>, max: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (${numbers(db).limit(max)}) as numbers`.execute(db);
  return rows[0]?.n ?? 0;
}
