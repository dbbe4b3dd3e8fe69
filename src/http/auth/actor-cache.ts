import { LRUCache } from 'lru-cache';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import { type Versions, versionOf } from '../../database/versions.ts';
import { type Actor, findActor } from '../../store/access/actors.ts';
import { hashSecret, looksLikeSecret } from '../../store/access/secret.ts';
import { isSessionToken } from './cookie.ts';

export type ActorCache = ReturnType<typeof createActorCache>;

const maxRecentIds = 10_000;
/** Sessions are many: those that were used least recently are read again. */
const maxActors = 10_000;

/** Whatever changes the access of a key, a person or a session increments the version of one of these tables. */
export const actorTables = ['keys', 'access'] as const;

/** Caches who has a key or session in memory, until any key or access changes, in this process or another. */
export function createActorCache(database: Pick<Database, 'db'>) {
  const byHash = new LRUCache<string, Actor>({ max: maxActors });
  // Hashing a secret is the slowest part of a lookup, so secrets in use are cached too.
  const bySecret = new LRUCache<string, Actor>({ max: maxActors });
  const recentIds = new LRUCache<string, string>({ max: maxRecentIds });
  let version = 0;

  function invalidate(versions: Versions): void {
    const latest = versionOf(versions, actorTables);
    if (latest === version) return;
    byHash.clear();
    bySecret.clear();
    version = latest;
  }

  return {
    /** Reads the actor from the cache only, after dropping entries that are older than `versions`. */
    getCached(secret: string, versions: Versions): Actor | undefined {
      invalidate(versions);
      const cached = bySecret.get(secret);
      if (cached) return cached;
      const actor = byHash.get(hashSecret(secret));
      if (actor) bySecret.set(secret, actor);
      return actor;
    },

    /** The id of the actor that had this secret when it was last read. Its access may have changed since. */
    recentId: (secret: string) => recentIds.get(secret),

    /** Checks the form of a secret: the checksum takes 3 µs, a tenth of a cached response. A cached one has passed before. */
    isPlausible: (secret: string) =>
      bySecret.has(secret) || looksLikeSecret(secret) || isSessionToken(secret),

    /**
     * Reads the actor from the cache or, also with `isAgain`, from the database. `versions` must be as new as the request.
     */
    async find(
      secret: string,
      versions: Versions,
      { now }: Moment,
      isAgain = false,
    ): Promise<Actor | undefined> {
      invalidate(versions);
      const hash = hashSecret(secret);
      const cached = byHash.get(hash);
      if (cached && !isAgain) return cached;
      const actor = await findActor(database.db, secret, now);
      // A previous secret ends without a new version. If the version has changed during the query, the row may be outdated.
      if (actor?.secret_until === null && version === versionOf(versions, actorTables)) {
        byHash.set(hash, actor);
        bySecret.delete(secret);
      }
      if (actor) recentIds.set(secret, actor.id);
      return actor;
    },
  };
}
