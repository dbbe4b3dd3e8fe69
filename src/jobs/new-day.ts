import type { FastifyInstance } from 'fastify';
import type { Moment } from '../core/clock.ts';
import { logBackgroundError } from '../http/ops/logging.ts';

/**
 * Runs `work` when the first authenticated request of a day arrives, and holds that day's requests until it is
 * done. Cached responses are served only on the day they were created, so always after the work.
 *
 * If the work fails, requests are served anyway: a full disk must not block reads. `schedule.ts` tries again every minute.
 */
export function runOnNewDay(app: FastifyInstance, work: (moment: Moment) => Promise<unknown>): void {
  let day = '';
  let running: Promise<void> | undefined;

  app.addHook('onRequest', ({ actor, moment }, _, done) => {
    if (!actor) return done();
    if (moment.today !== day) {
      day = moment.today;
      const started = work(moment)
        .catch((error) => logBackgroundError(app, error))
        .then(() => {
          if (running === started) running = undefined;
        });
      running = started;
    }
    if (!running) return done();
    running.then(() => done());
  });
}
