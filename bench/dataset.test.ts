import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkCommand } from '../src/commands/check.ts';
import { onBothEngines } from '../test/service.ts';
import { fillDataset, updateProjectCounts } from './dataset.ts';

onBothEngines('the dataset of benchmarks', (start) => {
  test('is consistent, as muster check says', async (t) => {
    const { database } = await start(t);
    await database.write(async (db) => {
      await fillDataset(db, { projects: 7, people: 300, risks: 1000, issues: 400, tasks: 200 });
      await updateProjectCounts(db);
    });
    const { violations } = await checkCommand(database, () => {});
    // It has no history.
    assert.deepEqual(
      violations.filter(({ area }) => area !== 'history'),
      [],
    );
  });
});
