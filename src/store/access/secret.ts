import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** What a secret is for. A key is sent in a header, a session and a device in a cookie, and a link works once. */
export const prefixes = { key: 'mst_', session: 'mss_', link: 'msl_', device: 'msd_' } as const;
type Purpose = keyof typeof prefixes;

/** A prefix, 32 random base62 characters (190 bits) and a CRC-32, so that secret scanners can recognize a secret. */
export function newSecret(purpose: Purpose = 'key'): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
  const body = `${prefixes[purpose]}${random}`;
  return `${body}${checksum(body)}`;
}

/** Rejects random guesses and typos without a query. */
export const looksLikeSecret = (text: string, purpose: Purpose = 'key'): boolean =>
  text.length === 42 &&
  text.startsWith(prefixes[purpose]) &&
  /^[0-9A-Za-z]{38}$/.test(text.slice(4)) &&
  checksum(text.slice(0, 36)) === text.slice(36);

/** A secret with 190 bits of entropy cannot be guessed, so a plain SHA-256 is enough at rest. */
export const hashSecret = (secret: string) => hash('sha256', secret, 'hex');

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
