import type { TestContext } from 'node:test';
import { type Clock, momentOf } from '../../src/core/clock.ts';
import { type Scope, scopes } from '../../src/core/scopes.ts';
import { createKey, revokeKey } from '../../src/resources/keys/queries.ts';
import { type Engine, startTestService } from '../service.ts';
import type { Target } from './target.ts';

/** A clock for all services. Each tick advances it by one second, and every 400th by seven hours. */
export function steppingClock(): { clock: Clock; tick(): void } {
  let now = Date.parse('2026-11-15T12:00:00Z');
  let ticks = 0;
  return {
    clock: () => momentOf(new Date(now)),
    tick() {
      ticks++;
      now += ticks % 400 === 0 ? 7 * 3_600_000 : 1000;
    },
  };
}

/** Starts a service on a fresh database and creates its keys. */
export async function startTarget(
  t: Pick<TestContext, 'after'>,
  engine: Engine,
  clock: Clock,
): Promise<Target> {
  const { origin, database } = await startTestService(t, engine, { clock });
  const createTestKey = (held: readonly Scope[], more: object = {}) =>
    database.write((db) => createKey(db, { name: held.join(' '), scopes: [...held], ...more }, clock()));
  const all = await createTestKey(scopes);
  const byScope: Record<string, string> = {};
  const ids = [all.id];
  for (const scope of scopes) {
    const { id, secret } = await createTestKey([scope]);
    byScope[scope] = secret;
    ids.push(id);
  }
  const revoked = await createTestKey(scopes);
  await database.write((db) => revokeKey(db, revoked.id, clock()));
  const expired = await createTestKey(scopes, { expires_at: '2026-01-01T00:00:00.000Z' });
  return {
    name: engine,
    origin,
    keys: { all: all.secret, ids, byScope, revoked: revoked.secret, expired: expired.secret },
  };
}
