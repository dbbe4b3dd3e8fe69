import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { byCommandLine } from '../database/writes/change.ts';
import { groupImport } from '../resources/groups/import.ts';
import { runImport, type Task } from './run.ts';
import type { Source } from './scan.ts';
import { sourceOf } from './source.ts';

onBothEngines('an import', (start) => {
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
    const task: Task = {
      importable: groupImport(),
      source,
      options: { mode: 'create', atomic: false, dry_run: false },
      recognition: { map: new Map(), map_values: new Map() },
      includesData: false,
      seesPeople: true,
      change: () => byCommandLine(systemClock()),
    };
    const { results } = await runImport({ ...database, write: (work) => database.write(work, 'bulk') }, task);
    assert.equal(results.counts.created, 1);
    assert.deepEqual(statuses, [201, 201, 201, 201]);
  });
});
