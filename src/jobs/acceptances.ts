import { setTimeout } from 'node:timers/promises';
import type { Moment } from '../core/clock.ts';
import { type Database, inSnapshot } from '../database/open.ts';
import type { App } from '../http/fastify.ts';
import { logBackgroundError } from '../http/ops/logging.ts';
import {
  countExpiredAcceptances,
  expireSomeAcceptances,
  hasExpiredAcceptances,
} from '../resources/risks/expiry.ts';

declare module 'fastify' {
  interface FastifyInstance {
    acceptances: Acceptances;
  }
}

type Acceptances = {
  /** How many risks are to be reopened, as far as this instance knows. */
  readonly left: number;
  /** Reopens the risks whose acceptance has expired. Resolves when they are, or after a second; the rest follows. */
  reopen(moment: Moment): Promise<void>;
};

const maxStopMs = 5_000;
/** How often to count the risks that are left, of which other instances may reopen some, and to log their number. */
const countEveryMs = 10_000;

/**
 * Reopens risks whose acceptance has expired, in this process once at a time: before the first authenticated requests of a
 * day are served, if that takes no longer than a second, otherwise in the background. Until its turn, a risk is accepted.
 * Cached responses are served only on the day they were created, so those of a day are never from before.
 *
 * If it fails, requests are served anyway: a full disk must not block reads. `schedule.ts` tries again every minute.
 */
export function reopenExpiredAcceptances(app: App, database: Database, maxWaitMs = 1_000): void {
  let left = 0;
  let latest: Moment;
  let isStopping = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    let countAt = performance.now() + maxWaitMs / 2;
    let isLong = false;
    for (;;) {
      const reopened = await expireSome(database, latest);
      if (reopened === undefined || isStopping) break;
      left = Math.max(0, left - reopened);
      if (performance.now() < countAt) continue;
      left = await inSnapshot(database, (db) => countExpiredAcceptances(db, latest));
      app.log.warn(`${left} risks whose acceptance has expired are still to be reopened.`);
      countAt = performance.now() + countEveryMs;
      isLong = true;
    }
    left = 0;
    if (isLong && !isStopping) app.log.warn('All risks whose acceptance has expired are reopened.');
  }

  app.decorate('acceptances', {
    get left() {
      return left;
    },
    async reopen(moment) {
      latest = moment;
      running ??= run()
        .catch((error) => logBackgroundError(app, error))
        .finally(() => {
          running = undefined;
        });
      await Promise.race([running, setTimeout(maxWaitMs, undefined, { ref: false })]);
    },
  });

  let day = '';
  let newDay: Promise<void> | undefined;
  app.addHook('onRequest', ({ actor, moment }, _, done) => {
    if (!actor) return done();
    if (moment.today !== day) {
      day = moment.today;
      const started = app.acceptances.reopen(moment).then(() => {
        if (newDay === started) newDay = undefined;
      });
      newDay = started;
    }
    if (!newDay) return done();
    newDay.then(() => done());
  });
  // `onClose` hooks run in reverse order, so this one runs before the database is closed.
  app.addHook('onClose', async () => {
    isStopping = true;
    await Promise.race([running, setTimeout(maxStopMs, undefined, { ref: false })]);
  });
}

/** Reopens all of them. */
export async function expireAcceptances(
  database: Pick<Database, 'db' | 'write'>,
  moment: Moment,
): Promise<void> {
  while ((await expireSome(database, moment)) !== undefined);
}

/** Returns how many risks were reopened; undefined if there are none. Takes the write lock only if there are any. */
const expireSome = async ({ db, write }: Pick<Database, 'db' | 'write'>, moment: Moment) =>
  (await hasExpiredAcceptances(db, moment))
    ? write((db) => expireSomeAcceptances(db, moment), 'bulk')
    : undefined;
