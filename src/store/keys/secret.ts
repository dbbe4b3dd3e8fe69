import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^(mst_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** `mst_`, 32 random base62 characters (190 bits) and a CRC-32, so that secret scanners can recognize a key. */
export function newSecret(): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `mst_${random}${checksum(`mst_${random}`)}`;
}

/** Rejects random guesses and typos without a query. */
export function looksLikeSecret(text: string): boolean {
  const [, body, sum] = shape.exec(text) ?? [];
  return body !== undefined && checksum(body) === sum;
}

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
