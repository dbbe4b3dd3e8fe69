import { LRUCache } from 'lru-cache';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Versions } from '../../database/versions.ts';
import type { Key } from '../../resources/keys/schema.ts';
import { findKeyByHash, findKeyByPreviousHash } from '../../store/keys/lookup.ts';
import { hashSecret, looksLikeSecret } from '../../store/keys/secret.ts';

/** Caches keys in memory until any key changes, in this process or another. */
export type KeyCache = {
  /** Reads the key from the cache or the database. `versions` must be as new as the request. */
  find(secret: string, versions: Versions, moment: Moment): Promise<Key | undefined>;
  /** Reads the key from the cache only, after dropping entries that are older than `versions`. */
  getCached(secret: string, versions: Versions): Key | undefined;
  /** The id of the key that had this secret when it was last read. The key may have changed since. */
  recentId(secret: string): string | undefined;
  /** Checks the form of a secret, without a database query. */
  isPlausible(secret: string): boolean;
};

const maxRecentIds = 10_000;

export function createKeyCache(database: Pick<Database, 'db'>): KeyCache {
  const byHash = new Map<string, Key>();
  // Hashing a secret is the slowest part of a lookup, so keys in use are also cached by secret.
  const bySecret = new Map<string, Key>();
  const recentIds = new LRUCache<string, string>({ max: maxRecentIds });
  let version = 0;

  function invalidate(versions: Versions): void {
    if (versions.keys <= version) return;
    byHash.clear();
    bySecret.clear();
    version = versions.keys;
  }

  return {
    getCached(secret, versions) {
      invalidate(versions);
      const cached = bySecret.get(secret);
      if (cached) return cached;
      const key = byHash.get(hashSecret(secret));
      if (key) bySecret.set(secret, key);
      return key;
    },

    recentId: (secret) => recentIds.get(secret),

    // The checksum takes 3 µs, a tenth of a cached response. A cached secret has passed it before.
    isPlausible: (secret) => bySecret.has(secret) || looksLikeSecret(secret),

    async find(secret, versions, { now }) {
      invalidate(versions);
      const hash = hashSecret(secret);
      const cached = byHash.get(hash);
      if (cached) return cached;
      const current = await findKeyByHash(database.db, hash);
      // If the version has changed during the query, the row may be outdated: do not cache it.
      if (current && version === versions.keys) byHash.set(hash, current);
      const key = current ?? (await findKeyByPreviousHash(database.db, hash, now));
      if (key) recentIds.set(secret, key.id);
      return key;
    },
  };
}
