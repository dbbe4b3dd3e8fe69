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
/** Beyond these, failures are counted together, so that storing them at the end of the service takes no time. */
const maxTracked = 1000;

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

  /** Stores what was counted so far, in one transaction. */
  async function flush(): Promise<void> {
    const all = [...counted.values()].map(({ failed }) => failed).filter(({ count }) => count > 0);
    if (all.length === 0) return;
    const stored = all.map((failed) => ({ ...failed }));
    for (const failed of all) failed.count = 0;
    await app.database.write(async (db) => {
      for (const failed of stored) recordFailure(db, failed, bySystem(app.clock()));
    });
  }

  app.addHook('onClose', async () => {
    for (const { timer } of counted.values()) clearTimeout(timer);
    await flush().catch((error) => app.log.warn(error));
  });

  return {
    async record(request: FastifyRequest, { user_id, way, problem }: Failed): Promise<void> {
      log(request, problem ?? `Wrong ${way}.`, user_id ?? undefined);
      app.signIns.add({ way, result: 'failed' });
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
    flush,
  };
}
