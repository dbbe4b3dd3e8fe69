import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { watchLoop } from '../../test/loop-stall.ts';
import { onBothEngines, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { Problem, unavailable } from '../core/errors.ts';
import type { Database } from '../database/open.ts';
import { unknownOutcome } from '../database/write-limits.ts';
import { groupImport } from '../resources/groups/import.ts';
import { byCommandLine } from '../store/writes/change.ts';
import { asJson } from './import-route.ts';
import { Results } from './results.ts';
import { type ImportJob, runImport, type Store } from './run.ts';
import type { Source } from './scan.ts';
import { sourceOf } from './source.ts';

onBothEngines('an import', (start) => {
  test('limits the time that its connection may be idle again before the results are sent', async (t) => {
    const { service, key } = await withKey(start(t));
    const { server } = service.app;
    const timeouts: (number | undefined)[] = [];
    server.once('request', ({ socket }, response) => {
      response.once('prefinish', () => timeouts.push(socket.timeout));
    });
    const headers = { 'content-type': 'text/csv' };
    assert.equal((await service.post('/v1/groups/import', key, 'name\nOps\n', headers)).status, 200);
    assert.deepEqual(timeouts, [server.timeout]);
  });

  test('says that rows may have been saved if the connection is lost during a commit', async (t) => {
    const { database } = await start(t);
    const error = unknownOutcome(new Error('connection lost'));
    const { message, extra } = await stopAfterFirstBatch(database, error);
    assert.match(message, /Some rows after them may have been saved as well/);
    assert.equal(extra.may_be_saved, true);
  });

  test('that fails in the middle keeps the code of the error', async (t) => {
    const { database } = await start(t);
    const archived = await stopAfterFirstBatch(
      database,
      new Problem('project_archived', 'The project X is archived.'),
    );
    assert.equal(archived.code, 'project_archived');
    assert.match(archived.message, /rows\. The project X is archived\. Imported rows were saved\./);
    assert.deepEqual(archived.headers, {});
    assert.equal((await stopAfterFirstBatch(database, new Error('a bug'))).code, 'internal');
    const away = await stopAfterFirstBatch(database, unavailable('away', 1));
    assert.deepEqual([away.code, away.headers], ['unavailable', { 'retry-after': '5' }]);
  });

  test('does not keep other writers waiting while it reads the file', async (t) => {
    const { service, key } = await withKey(start(t));
    const { database } = service;
    const file = sourceOf('csv', Buffer.from('name\nOps\n'), {});
    let passes = 0;
    const statuses: number[] = [];
    const source: Source = {
      isTable: true,
      async *rows() {
        passes++;
        statuses.push((await service.post('/v1/groups', key, { name: `before pass ${passes}` })).status);
        yield* file.rows();
        statuses.push((await service.post('/v1/groups', key, { name: `after pass ${passes}` })).status);
      },
    };
    const store: Store = { ...database, write: (work) => database.write(work, 'bulk') };
    const { results } = await runImport(store, jobOf(source));
    assert.equal(results.counts.created, 1);
    assert.deepEqual(statuses, [201, 201, 201, 201]);
  });

  test('returns the cells of failed rows after long rows without errors, up to a limit', async (t) => {
    const { database } = await start(t);
    const padding = 'x'.repeat(2 ** 20 + 1);
    const names = ['name', 'padding'];
    const source: Source = {
      isTable: true,
      async *rows() {
        yield [{ line: 1, names, cells: names, isHeader: true as const }];
        for (let i = 0; i < 80; i++)
          yield [{ line: i + 2, names, cells: [i < 40 ? `Group ${i}` : '', padding] }];
      },
    };
    const job: ImportJob = { ...jobOf(source), include: 'data' };
    const { results } = await runImport({ ...database, write: (work) => database.write(work, 'bulk') }, job);
    const withData = { created: 0, failed: 0 };
    for await (const texts of results.texts()) {
      for (const text of texts) {
        const { status, data } = JSON.parse(text);
        if (data) withData[status as 'created' | 'failed']++;
      }
    }
    // The row that reaches the limit is the last one with its cells.
    assert.deepEqual(withData, { created: 32, failed: 32 });
  });
});

const jobOf = (source: Source): ImportJob => ({
  importable: groupImport(),
  source,
  options: { mode: 'create', atomic: false, dry_run: false },
  recognition: { map: new Map(), map_values: new Map(), scales: new Map(), time_zone: 'UTC' },
  seesPeople: true,
  change: () => byCommandLine(systemClock()),
  started_at: systemClock().now,
});

/** Imports groups. The error follows the commit of the second batch; the first one is reported as saved. */
async function stopAfterFirstBatch(database: Database, error: Error): Promise<Problem> {
  const prefix = randomUUID();
  const names = Array.from({ length: 2000 }, (_, i) => `${prefix} ${i}`);
  let transactions = 0;
  const store: Store = {
    ...database,
    async write(work) {
      // Another writer waits, so a transaction is one batch.
      const result = await database.write((db) => work(db, () => true), 'bulk');
      if (++transactions === 2) throw error;
      return result;
    },
  };
  const source = sourceOf('csv', Buffer.from(`name\n${names.join('\n')}\n`), {});
  const stopped: Problem = await runImport(store, jobOf(source)).then(
    () => assert.fail('the import went on'),
    (problem) => problem,
  );
  assert.ok(Number(stopped.extra.created) > 0 && Number(stopped.extra.created) < names.length);
  return stopped;
}

const rows = 100_000;

test('sending the results of a long import does not block the event loop', async () => {
  const results = new Results(rows);
  for (let i = 0; i < rows; i++) {
    const detail = `No person matches “unknown ${i}”. `.repeat(30);
    const errors = [{ pointer: '#/manager', code: 'unknown_reference', detail }];
    results.set(i, { line: i + 2, status: 'failed', errors });
  }

  const loop = watchLoop();
  // Each round would stall: a collection of garbage lasts long in one of them at most.
  const stalls: number[] = [];
  for (let round = 1; round <= 3; round++) {
    let bytes = 0;
    loop.takeMaxMs();
    // A client that reads as fast as it can.
    for await (const text of Readable.from(asJson({ summary: {} }, results.texts()))) bytes += text.length;
    stalls.push(loop.takeMaxMs());
    assert.ok(bytes > rows * 500, `${bytes} bytes`);
  }
  loop.stop();
  assert.ok(Math.min(...stalls) < 100, `${stalls} ms`);
});
