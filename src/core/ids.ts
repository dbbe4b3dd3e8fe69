import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

export const prefixes = {
  person: 'usr',
  group: 'grp',
  project: 'prj',
  risk: 'rsk',
  issue: 'iss',
  task: 'tsk',
  key: 'key',
  history: 'hst',
  event: 'evt',
  webhook: 'whk',
  delivery: 'dlv',
  comment: 'cmt',
  view: 'viw',
  report: 'rpt',
  mapping: 'map',
  access: 'acc',
  session: 'ses',
  passkey: 'psk',
  risk_model: 'rmd',
  organization: 'org',
  category: 'cat',
  handover: 'hnd',
  handover_item: 'hit',
} as const;

export type IdKind = keyof typeof prefixes;

/** A UUIDv7 in base 32: opaque, ordered by time, safe in a URL and in a file name. */
export function newId(kind: IdKind): string {
  const random = randomBytes();
  const now = Date.now();
  // Ids of the same millisecond count up from a random number, so that they stay in order of creation.
  latest =
    now > latest.msecs
      ? { msecs: now, seq: random.readUInt32BE() >>> 1 }
      : { ...latest, seq: latest.seq + 1 };
  return `${prefixes[kind]}_${encodeBase32(uuidv7({ ...latest, random }, bytes))}`;
}

let latest = { msecs: 0, seq: 0 };
const bytes = new Uint8Array(16);

/** Random bytes for 256 ids at a time, because the call to the generator is the slowest part of an id. */
const pool = Buffer.alloc(16 * 256);
let usedBytes = pool.length;

function randomBytes(): Buffer {
  if (usedBytes === pool.length) {
    randomFillSync(pool);
    usedBytes = 0;
  }
  usedBytes += 16;
  return pool.subarray(usedBytes - 16, usedBytes);
}

const digits = '0123456789abcdefghijklmnopqrstuv';

/** Writes 128 bits as 26 digits of 5 bits; the first digit has 2 bits of padding. */
function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let buffered = 0;
  let bits = 2;
  for (const byte of bytes) {
    buffered = (buffered << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += digits[(buffered >>> (bits - 5)) & 31];
    buffered &= (1 << bits) - 1;
  }
  return text;
}

/** The key that a client means by a text such as `apollo-r7`. An id stays no key, whatever its case. */
export const normalizeKey = (ref: string) => ref.toUpperCase();

export const idPattern = (kind: IdKind) => `^${prefixes[kind]}_[0-9a-v]{26}$`;
