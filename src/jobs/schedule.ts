import { setTimeout } from 'node:timers/promises';
import type { Database } from '../database/open.ts';
import type { App } from '../http/fastify.ts';
import { logBackgroundError } from '../http/ops/logging.ts';
import { foldRecent } from '../store/folds.ts';
import { writeDatedEvents } from './dated-events.ts';
import { deleteOldHistory } from './history-retention.ts';
import {
  advanceSequence,
  deleteExpiredSignIns,
  deleteOldDeliveries,
  deleteOldEvents,
  deleteOldResponses,
} from './retention.ts';

const intervalMs = 60_000;
const maxStopMs = 5_000;

/**
 * What time brings about, without requests too, so that history and event followers see it in time. `runDue` is what must
 * be done before the service is ready; `start` repeats it and deletes what is too old, every minute.
 */
export function createJobs(app: App) {
  const { config, clock, organizationClock } = app;
  /** Jobs that write in a loop end with their next write. */
  const database: Database = {
    ...app.database,
    async write(...args) {
      if (isStopped) throw new Error('The service is stopping.');
      return app.database.write(...args);
    },
  };
  /** Without requests, only this finds out that another instance has changed the time zone. */
  const moment = async () => {
    await organizationClock.refresh();
    return clock();
  };
  const checkpoints = new Map<string, string>();
  let foldedUntil = 0;
  const due = [
    async () => {
      foldedUntil = await foldRecent(database, clock(), foldedUntil);
    },
    async () => app.acceptances.reopen(await moment()),
    async () => writeDatedEvents(database, await moment(), checkpoints),
    async () => advanceSequence(database, clock()),
  ];
  const cleanups = [
    () => deleteOldResponses(database, clock()),
    () => deleteExpiredSignIns(database, clock(), config.session_idle_days),
    async () => {
      const missed = new Map<string, number>();
      await deleteOldEvents(database, clock(), config.event_retention_days, (id, count) => {
        missed.set(id, (missed.get(id) ?? 0) + count);
        app.deliveryCounts.missed += count;
      });
      for (const [id, count] of missed)
        app.log.warn(
          `The webhook ${id} is behind by more than MUSTER_EVENT_RETENTION_DAYS: it has missed ${count} events, which are deleted.`,
        );
    },
    () => deleteOldDeliveries(database, clock(), config.webhook_log_days),
    async () => {
      const deleted = await deleteOldHistory(database, await moment(), config.history_retention_days);
      if (deleted > 0)
        app.log.warn(
          `${deleted} past versions of risks and entries of the history are deleted (MUSTER_HISTORY_RETENTION_DAYS).`,
        );
    },
  ];
  const timers: NodeJS.Timeout[] = [];
  const running = new Map<() => Promise<unknown>, Promise<unknown>>();
  let isStopped = false;
  return {
    async runDue(): Promise<void> {
      const run = async () => {
        for (const job of due) await job();
      };
      const ended = run();
      running.set(
        run,
        ended.catch(() => {}),
      );
      await ended;
      running.delete(run);
    },
    /** A failed run is logged; the next one retries. */
    start(ms = intervalMs): void {
      for (const job of [...due, ...cleanups]) {
        const run = async () => {
          if (running.has(job)) return;
          // After the stop, the database may be closed in the middle of a job.
          const ended = job().catch((error: unknown) => isStopped || logBackgroundError(app, error));
          running.set(job, ended);
          await ended;
          running.delete(job);
        };
        timers.push(setInterval(run, ms));
      }
    },
    /** Waits for the jobs that run, for a short time. Before the database is closed. */
    async stop(): Promise<void> {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.race([Promise.all(running.values()), setTimeout(maxStopMs, undefined, { ref: false })]);
    },
  };
}
