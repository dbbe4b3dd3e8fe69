import { setTimeout } from 'node:timers/promises';
import type { Database } from '../database/open.ts';
import type { App } from '../http/fastify.ts';
import { logBackgroundError } from '../http/ops/logging.ts';
import { Counts, type JobCounts } from '../http/ops/request-histogram.ts';
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

/** What must be done before the service is ready, and what deletes rows because of their age. */
const dueJobs = ['folds', 'acceptances', 'dated_events', 'sequence'] as const;
const cleanupJobs = ['responses', 'sign_ins', 'events', 'deliveries', 'history'] as const;
const jobNames = [...dueJobs, ...cleanupJobs];
type Jobs<Name extends string, Result> = Record<Name, () => Promise<Result>>;

export const createJobCounts = (): JobCounts => ({
  runs: new Counts(jobNames.flatMap((name) => ['succeeded', 'failed'].map((result) => ({ name, result })))),
  seconds: new Counts(jobNames.map((name) => ({ name }))),
  deleted: new Counts(cleanupJobs.map((name) => ({ name }))),
});

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
  const due: Jobs<(typeof dueJobs)[number], unknown> = {
    folds: async () => {
      foldedUntil = await foldRecent(database, clock(), foldedUntil);
    },
    acceptances: async () => app.acceptances.reopen(await moment()),
    dated_events: async () => writeDatedEvents(database, await moment(), checkpoints),
    sequence: async () => advanceSequence(database, clock()),
  };
  /** Each returns how many rows it has deleted. */
  const cleanups: Jobs<(typeof cleanupJobs)[number], number> = {
    responses: () => deleteOldResponses(database, clock()),
    sign_ins: () => deleteExpiredSignIns(database, clock(), config.session_idle_days),
    events: async () => {
      const missed = new Map<string, number>();
      const deleted = await deleteOldEvents(database, clock(), config.event_retention_days, (id, count) => {
        missed.set(id, (missed.get(id) ?? 0) + count);
        app.deliveryCounts.missed += count;
      });
      for (const [id, count] of missed)
        app.log.warn(
          `The webhook ${id} is behind by more than MUSTER_EVENT_RETENTION_DAYS: it has missed ${count} events, which are deleted.`,
        );
      return deleted;
    },
    deliveries: () => deleteOldDeliveries(database, clock(), config.webhook_log_days),
    history: async () => {
      const deleted = await deleteOldHistory(database, await moment(), config.history_retention_days);
      if (deleted > 0)
        app.log.warn(
          `${deleted} past versions of risks and entries of the history are deleted (MUSTER_HISTORY_RETENTION_DAYS).`,
        );
      return deleted;
    },
  };
  async function count(name: (typeof jobNames)[number], job: () => Promise<unknown>): Promise<void> {
    const { runs, seconds, deleted } = app.jobCounts;
    const startedAt = performance.now();
    let result = 'failed';
    try {
      const returned = await job();
      result = 'succeeded';
      if (name in cleanups) deleted.add({ name }, Number(returned));
    } finally {
      runs.add({ name, result });
      seconds.add({ name }, (performance.now() - startedAt) / 1000);
    }
  }
  const timers: NodeJS.Timeout[] = [];
  const running = new Map<() => Promise<unknown>, Promise<unknown>>();
  let isStopped = false;
  return {
    async runDue(): Promise<void> {
      const run = async () => {
        for (const name of dueJobs) await count(name, due[name]);
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
      const all = { ...due, ...cleanups };
      for (const name of jobNames) {
        const job = all[name];
        const run = async () => {
          if (running.has(job)) return;
          // After the stop, the database may be closed in the middle of a job.
          const ended = count(name, job).catch(
            (error: unknown) => isStopped || logBackgroundError(app, error),
          );
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
