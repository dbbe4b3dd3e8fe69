import { Problem, unavailable } from '../../core/errors.ts';
import { tooManyWrites } from '../write-limits.ts';

/** The SQLSTATE from the server, or the system error code of a failed connection. */
export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether the server closes the connection after this error. */
export const isFatal = (error: unknown) =>
  error instanceof Error && 'severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC');

/** No connection, too many connections, shutdown, idle timeout, failed authentication or TLS, or unknown database. */
const awayCodes =
  /^(08|53|57P|25P03|28|3D|ECONN|ENOTFOUND|ENOENT|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERR_(TLS|SSL|OSSL)_)/;

/** The server has rolled back, and another attempt fails as well. */
export const diskFull = '53100';

/** Errors without a code, from the driver or Kysely, about a connection that was lost or not established. */
const awayMessages =
  /Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired|connection has been discarded|establishing an SSL connection|does not support SSL connections/;

/** Whether the connection was lost or not established. The server rolls back its uncommitted transaction. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return awayCodes.test(code) && code !== diskFull;
  return error instanceof Error && awayMessages.test(error.message);
}

/** Maps a driver error to a response; undefined if the error is a bug. */
export function explainError(error: unknown): Problem | undefined {
  const code = codeOf(error);
  if (code === diskFull) {
    return new Problem(
      'storage_full',
      'The disk of the database is full. Nothing was changed. Free up disk space, then try again.',
      { cause: error },
    );
  }
  if (code === '25006') return readOnly(error);
  if (code === '55000')
    return unavailable('The database is a standby, which may lack the latest changes.', 1, error);
  if (isAway(error)) return unavailable('The database cannot be reached. Try again shortly.', 1, error);
  // Canceled by a timeout or an administrator, a serialization failure, or a conflict with recovery on a standby.
  if (/^(57014|40)/.test(code)) {
    return unavailable(
      'The database canceled the request. Nothing was changed. Try again shortly.',
      1,
      error,
    );
  }
  if (code === '55P03') return tooManyWrites(error);
  if (code === '58030') return unavailable('The database cannot read or write its disk.', 1, error);
  return undefined;
}

export const readOnly = (cause?: unknown) =>
  unavailable('The database does not accept writes: it is a standby or set to read-only.', 1, cause);
