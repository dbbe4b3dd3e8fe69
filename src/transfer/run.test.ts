import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import type { Problem } from '../core/errors.ts';
import { unknownOutcome } from '../database/open.ts';
import { byCommandLine } from '../database/writes/change.ts';
import { groupImport } from '../resources/groups/import.ts';
import { type ImportJob, runImport, type Store } from './run.ts';
import type { Source } from './scan.ts';
import { sourceOf } from './source.ts';

onBothEngines('an import', (start) => {
  test('limits the time that its connection may be idle again before the results are sent', async (t) => {
    const service = await start(t);
    const key = await service.key();
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
    const names = Array.from({ length: 2000 }, (_, i) => `Group ${i}`);
    const job: ImportJob = {
      importable: groupImport(),
      source: sourceOf('csv', Buffer.from(`name\n${names.join('\n')}\n`), {}),
      options: { mode: 'create', atomic: false, dry_run: false },
      recognition: { map: new Map(), map_values: new Map() },
      seesPeople: true,
      change: () => byCommandLine(systemClock()),
    };
    let transactions = 0;
    const store: Store = {
      ...database,
      async write(work) {
        // Another writer waits, so a transaction is one batch.
        const result = await database.write((db) => work(db, () => true), 'bulk');
        if (++transactions === 2) throw unknownOutcome(new Error('connection lost'));
        return result;
      },
    };
    await assert.rejects(runImport(store, job), ({ message, extra }: Problem) => {
      assert.match(message, /Some rows after them may have been saved as well/);
      assert.equal(extra.may_be_saved, true);
      assert.ok(Number(extra.created) > 0 && Number(extra.created) < names.length);
      return true;
    });
  });

  test('does not keep other writers waiting while it reads the file', async (t) => {
    const service = await start(t);
    const key = await service.key();
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
    const job: ImportJob = {
      importable: groupImport(),
      source,
      options: { mode: 'create', atomic: false, dry_run: false },
      recognition: { map: new Map(), map_values: new Map() },
      seesPeople: true,
      change: () => byCommandLine(systemClock()),
    };
    const { results } = await runImport({ ...database, write: (work) => database.write(work, 'bulk') }, job);
    assert.equal(results.counts.created, 1);
    assert.deepEqual(statuses, [201, 201, 201, 201]);
  });
});
