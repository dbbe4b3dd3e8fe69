import { Problem } from '../../core/errors.ts';

/** The SQLSTATE that the server sent, or the system's code of a failed connection. */
export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The server ends the connection with such an error: nothing more can be sent on it. */
export const isFatal = (error: unknown) =>
  error instanceof Error && 'severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC');

/** No connection, none left, shutting down, idle for too long, not let in, or no such database. */
const awayCodes =
  /^(08|53|57P|25P03|28|3D|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/;

/** What the driver and the query builder say, without a code, of a connection that was lost or not established. */
const awayMessages =
  /Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired|connection has been discarded|establishing an SSL connection/;

/** The connection was lost, or there was none: what was not committed before is undone. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return awayCodes.test(code);
  return error instanceof Error && awayMessages.test(error.message);
}

/** What an error means to a caller, if it means anything but a defect. */
export function explainError(error: unknown): Problem | undefined {
  const code = codeOf(error);
  if (code === '53100') {
    return new Problem('storage_full', 'The disk of the database is full. Nothing was changed.', {
      cause: error,
    });
  }
  if (code === '25006') return readOnly(error);
  if (isAway(error)) return unavailable('The database is away. Try again shortly.', error);
  // Canceled by its time limit or by an administrator, or in conflict with the recovery of a standby.
  if (/^(57014|40)/.test(code)) {
    return unavailable('The database ended the request before it was done. Nothing was changed.', error);
  }
  if (code === '55P03') return unavailable('Too many others are changing the same thing.', error);
  if (code === '58030') return unavailable('The database cannot use its disk.', error);
  return undefined;
}

export const readOnly = (cause?: unknown) =>
  unavailable('The database takes no writes: it is a standby or set to read-only.', cause);

const unavailable = (detail: string, cause: unknown) =>
  new Problem('unavailable', detail, { cause, headers: { 'retry-after': '1' } });
