import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SignInProblem } from '../../resources/session/schema.ts';
import type { SignInWay } from '../../resources/sessions/schema.ts';
import { recordFailure } from '../../store/access/sessions.ts';
import { bySystem } from '../../store/writes/change.ts';
import { createRejectionLog } from './rejection-log.ts';
import { clientOf, networkOfClient } from './sign-in.ts';

/** `user_id` is null if there is no such account. */
type Failed = { user_id: string | null; way: SignInWay; problem?: SignInProblem };
type Counted = { failed: Parameters<typeof recordFailure>[1]; timer?: NodeJS.Timeout };

const minute = 60_000;
const maxTracked = 10_000;

/**
 * Records failed sign-ins: each in the log, which is limited, and as an event. The first of a network and account is an
 * event at once; those of the minute after it are one event with their number, because everybody can cause them.
 */
export function createFailedSignIns(app: FastifyInstance) {
  const counted = new Map<string, Counted>();
  const log = createRejectionLog(app, 'A sign-in was rejected.', 'user_id');

  const store = (failed: Counted['failed']) =>
    app.database.write(async (db) => recordFailure(db, failed, bySystem(app.clock())));

  /** Stores what was counted, and goes on counting if there was anything. */
  async function storeCounted(key: string, one: Counted): Promise<void> {
    clearTimeout(one.timer);
    const { failed } = one;
    const { count } = failed;
    if (count === 0) {
      counted.delete(key);
      return;
    }
    failed.count = 0;
    countFurther(key, one);
    await store({ ...failed, count }).catch((error) => {
      failed.count += count;
      app.log.warn(error);
    });
  }

  function countFurther(key: string, one: Counted): void {
    one.timer = setTimeout(() => void storeCounted(key, one), minute).unref();
  }

  app.addHook('onClose', async () => {
    for (const [key, one] of counted) {
      await storeCounted(key, one);
      clearTimeout(one.timer);
    }
  });

  return {
    async record(request: FastifyRequest, { user_id, way, problem }: Failed): Promise<void> {
      log(request, problem ?? `Wrong ${way}.`, user_id ?? undefined);
      const text = [networkOfClient(request), user_id, way, problem].join(' ');
      const key = counted.has(text) || counted.size < maxTracked ? text : '';
      const known = counted.get(key);
      if (known) {
        known.failed.count++;
        return;
      }
      const failed = { ...clientOf(request), user_id, way, ...(problem && { problem }), count: 0 };
      const one: Counted = { failed };
      counted.set(key, one);
      countFurther(key, one);
      await store({ ...failed, count: 1 });
    },
    /** Stores what was counted so far. */
    flush: async () => {
      for (const [key, one] of counted) await storeCounted(key, one);
    },
  };
}
