import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Versions } from '../../database/versions.ts';
import type { Key } from '../../resources/keys/schema.ts';
import { findKeyByHash, findKeyByPreviousHash } from './key-lookup.ts';
import { hashSecret, looksLikeSecret } from './secret.ts';

/** Keys that are in use, kept in memory for as long as no key is changed anywhere. */
export type KeyCache = {
  /** The key of a secret; undefined when there is none. */
  find(secret: string, moment: Moment): Promise<Key | undefined>;
  /** The same at once, if it is among those kept and `versions` says that they still hold. */
  known(secret: string, versions: Versions): Key | undefined;
  /** Whether a text can be a secret at all, without asking the database. */
  isPlausible(secret: string): boolean;
};

export function createKeyCache(database: Database): KeyCache {
  const kept = new Map<string, Key>();
  // The same by their secrets: to hash one takes longer than all else that is asked of a key.
  const inUse = new Map<string, Key>();
  let version = 0;

  function invalidate(versions: Versions): void {
    if (versions.keys <= version) return;
    kept.clear();
    inUse.clear();
    version = versions.keys;
  }

  return {
    known(secret, versions) {
      invalidate(versions);
      const known = inUse.get(secret);
      if (known) return known;
      const key = kept.get(hashSecret(secret));
      if (key) inUse.set(secret, key);
      return key;
    },

    // The checksum takes 3 µs, a tenth of a response from the cache; a secret in use has passed it before.
    isPlausible: (secret) => inUse.has(secret) || looksLikeSecret(secret),

    async find(secret, { now }) {
      const versions = await database.versions();
      invalidate(versions);
      const hash = hashSecret(secret);
      const known = kept.get(hash);
      if (known) return known;
      const key = await findKeyByHash(database.db, hash);
      // What was read while another change came may be from before it.
      if (key && version === versions.keys) kept.set(hash, key);
      return key ?? findKeyByPreviousHash(database.db, hash, now);
    },
  };
}
