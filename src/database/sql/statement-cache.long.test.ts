import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { type Engine, onBothEngines, type Start, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { listPage } from '../../lists/list.ts';
import { personnelList } from '../../resources/personnel/queries.ts';
import { updateRow } from '../../store/writes/rows.ts';
import { cachedCount } from './statement.ts';

/** Clients choose the fields of a PATCH and the limit of a page, so they can create any number of statements. */
const updates = 5000;
const limits = Array.from({ length: 1000 }, (_, i) => i + 1);

onBothEngines('many different statements', (start, engine) => {
  test('do not grow memory, and frequent statements stay prepared', async (t) => {
    const { service, request, update } = await begin(t, start);
    const preparations = countPreparations(t, engine);
    await request();
    // Fills the caches first, so that only growth beyond their limits is measured.
    await update(2500);
    const heapBefore = heapAfterGc();
    await update(updates);
    await request();
    const heapAfter = heapAfterGc();
    assert.ok(heapAfter - heapBefore < 10e6, `${heapBefore} → ${heapAfter} bytes`);
    assert.ok(cachedCount() <= 1000, `${cachedCount()} entries`);

    await readPages(service);
    await readPages(service);
    const before = preparations();
    for (let i = 0; i < 50; i++) {
      await request();
      await update(4);
    }
    const { used, idle } = service.database.pools().quick ?? assert.fail();
    // Each connection prepares it once. It also runs once unprepared before it counts as frequent.
    const max = used + idle + 1;
    assert.ok(preparations() - before <= max, `prepared ${preparations() - before} times, not ${max}`);
    if (engine === 'postgres') await assertBound(service);
  });
});

function heapAfterGc(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

/** Counts how often a driver prepares the frequent statement. */
function countPreparations(t: TestContext, engine: Engine): () => number {
  let count = 0;
  const countIfFrequent = (text: string) => {
    if (text.includes('"people"."roster_key"') && / limit 26$/.test(text)) count++;
  };
  const { prepare } = Sqlite.prototype;
  const { parse } = pg.Connection.prototype;
  if (engine === 'sqlite') {
    Sqlite.prototype.prepare = function counting(this: Sqlite.Database, text: string) {
      countIfFrequent(text);
      return prepare.call(this, text);
    } as typeof prepare;
  } else {
    pg.Connection.prototype.parse = function counting(query, more) {
      countIfFrequent(query.text);
      return parse.call(this, query, more);
    };
  }
  t.after(() => {
    Sqlite.prototype.prepare = prepare;
    pg.Connection.prototype.parse = parse;
  });
  return () => count;
}

/** Asserts on every connection that the server has freed the statements that the client evicted. */
async function assertBound({ database }: TestService): Promise<void> {
  const onOneConnection = sql<{ n: number; named: number }>`
    select count(*) as n, count(*) filter (where name ~ '^m_[0-9a-f]{32}$') as named, pg_sleep(0.2)
    from pg_prepared_statements`;
  // Each query sleeps, so that queries at the same time use different connections.
  const results = await Promise.all(Array.from({ length: 10 }, () => onOneConnection.execute(database.db)));
  const counts = results.flatMap(({ rows }) => rows.map(({ n, named }) => ({ n, named })));
  const shown = JSON.stringify(counts);
  assert.ok(
    counts.every(({ n, named }) => n <= 100 && named === n),
    shown,
  );
  assert.ok(
    counts.some(({ n }) => n > 50),
    shown,
  );
}

/** One page of each length. */
async function readPages(service: TestService): Promise<void> {
  const list = personnelList({}, momentOf(new Date()));
  const { db, end } = await service.database.snapshot();
  for (const limit of limits) assert.ok((await listPage(db, list, undefined, limit)).length <= limit);
  await end();
}

async function begin(t: TestContext, start: Start) {
  const { service, key } = await withKey(start(t, { environment: { MUSTER_CACHE_MB: '0' } }));
  const { user_id: id } = await service.make('/v1/personnel', key, { name: 'Ada' });
  const columns = [
    'title',
    'department',
    'location',
    'phone',
    'time_zone',
    'kind',
    'skills',
    'start_on',
    'end_on',
    'status',
    'external_id',
    'attributes',
    'email',
    'name_folded',
    'skills_folded',
  ] as const;
  const json: Record<string, string> = { skills: '[]', attributes: '{}' };
  let shape = 0;
  let version = 1;
  return {
    service,
    /** Sends the request whose statement must stay prepared. */
    async request() {
      assert.equal((await service.get('/v1/personnel?limit=25', key)).status, 200);
    },
    /** Updates a row as a PATCH does, with different columns each time, in transactions of one hundred. */
    async update(count: number) {
      for (let left = count; left > 0; left -= 100) {
        await service.database.write(async (db) => {
          for (let i = 0; i < Math.min(left, 100); i++) {
            // Each subset runs twice, because only then is it prepared. The step is odd, so that it reaches every subset.
            const subset = ((shape++ >> 1) * 7919) % 2 ** columns.length;
            const values = columns
              .filter((_, bit) => subset & (1 << bit))
              .map((column) => [column, json[column] ?? 'x']);
            const row = { id, version: version++ };
            await updateRow(db, 'people', row, Object.fromEntries(values), new Date().toISOString());
          }
        });
      }
    },
  };
}
