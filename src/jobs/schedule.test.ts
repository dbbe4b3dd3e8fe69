import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { onBothEngines } from '../../test/service.ts';
import { createJobs } from './schedule.ts';

onBothEngines('the jobs', (start) => {
  test('that run when the service stops end before its database is closed', async (t) => {
    const { app, database } = await start(t);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();
    const { write } = database;
    let jobs = 0;
    // A job that is in the middle of its work.
    t.mock.method(database, 'write', async (...args: Parameters<typeof write>) => {
      jobs++;
      wait();
      await released;
      return write(...args).finally(() => jobs--);
    });
    const errors = t.mock.method(app.log, 'error');
    const { start: startJobs, stop } = createJobs(app);
    startJobs(1);
    await waiting;
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await setTimeout(20);
    assert.equal(isStopped, false);
    release();
    await stopped;
    assert.equal(jobs, 0);
    assert.deepEqual(errors.mock.calls, []);
  });

  test('that run before the service is ready end too, and write nothing more', async (t) => {
    const { app, database } = await start(t);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();
    const { write } = database;
    const writes = t.mock.method(database, 'write', async (...args: Parameters<typeof write>) => {
      wait();
      await released;
      return write(...args);
    });
    const { runDue, stop } = createJobs(app);
    const due = runDue().catch((error) => error.message);
    await waiting;
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await setTimeout(20);
    assert.equal(isStopped, false);
    release();
    await stopped;
    assert.equal(await due, 'The service is stopping.');
    assert.equal(writes.mock.callCount(), 1);
  });
});
