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
} as const;

export type IdKind = keyof typeof prefixes;

/** A UUIDv7 in base 32: opaque, ordered by time, safe in a URL and in a file name. */
export function newId(kind: IdKind): string {
  const random = randomBytes();
  const now = Date.now();
  // Within a millisecond they are counted, from a number drawn by lot, so that they are ordered by time there, too.
  latest =
    now > latest.msecs
      ? { msecs: now, seq: random.readUInt32BE() >>> 1 }
      : { ...latest, seq: latest.seq + 1 };
  return `${prefixes[kind]}_${inBase32(uuidv7({ ...latest, random }, bytes))}`;
}

let latest = { msecs: 0, seq: 0 };
const bytes = new Uint8Array(16);

/** Drawn for many ids at a time: a draw takes longer than all else about an id. */
const pool = Buffer.alloc(16 * 256);
let drawn = pool.length;

function randomBytes(): Buffer {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += 16;
  return pool.subarray(drawn - 16, drawn);
}

const digits = '0123456789abcdefghijklmnopqrstuv';

/** 128 bits are 26 digits of 5 bits, the first of which has 2 to spare. */
function inBase32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 2;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += digits[(held >>> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return text;
}

export const idPattern = (kind: IdKind) => `^${prefixes[kind]}_[0-9a-v]{26}$`;
