import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** The minimum that OWASP recommends: 19 MiB, 2 passes, one thread. About 30 ms. Run these functions in the `signInQueue`. */
const parameters = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;

/** The hash of a password in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await hashWith(password, salt, parameters);
  const { memory, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(hash)}`;
}

/** Takes as long for an account without a password as for one with a wrong password. */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, memory, passes, parallelism, salt, expected] = pattern.exec(stored ?? '') ?? [];
  if (salt === undefined || expected === undefined) {
    await hashWith(password, Buffer.alloc(16), parameters);
    return false;
  }
  const used = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const hash = await hashWith(password, Buffer.from(salt, 'base64'), used);
  return timingSafeEqual(hash, Buffer.from(expected, 'base64'));
}

const pattern =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

const hashWith = (password: string, nonce: Buffer, used: typeof parameters): Promise<Buffer> =>
  derive('argon2id', { message: normalized(password), nonce, tagLength, ...used });

/** The same text may arrive in different Unicode forms, depending on the keyboard and system. */
const normalized = (password: string) => password.normalize('NFKC');

const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
