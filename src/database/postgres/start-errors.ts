import { UsageError } from '../../core/errors.ts';
import { codeOf, isAway } from './errors.ts';

/** What the sentences name. */
type Target = { name: string; user: string; database: string };

/** Where a URL leads. `name` is the URL without its password. */
export function targetOf(url: string, name: string): Target {
  const { username, pathname } = new URL(url);
  const user = decodeURIComponent(username) || 'muster';
  return { name, user, database: decodeURIComponent(pathname.slice(1)) || user };
}

/** Whether the server is not there, or not yet: a later attempt may find it. */
export const isAbsent = (error: unknown): boolean =>
  /^(08|57P0[123]|53300|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOENT)/.test(
    codeOf(error),
  ) ||
  (codeOf(error) === '' &&
    isAway(error) &&
    !(error instanceof Error && error.message.includes('establishing an SSL connection')));

/** Explains to the operator why the service cannot start; undefined if the operator cannot fix it. */
export function explainStart(error: unknown, target: Target): UsageError | undefined {
  const sentence = sentenceFor(error, target);
  return sentence === undefined ? undefined : new UsageError(sentence, { cause: error });
}

const unknownAuthority =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_UNTRUSTED|INVALID_CA)/;

function sentenceFor(error: unknown, target: Target): string | undefined {
  const { name, user, database } = target;
  const code = codeOf(error);
  const message = (error instanceof Error && error.message) || code;
  if (unknownAuthority.test(code))
    return `The certificate of the database ${name} is signed by an authority that is not known here (${message}). Add sslrootcert=<file>, the certificate of that authority, to MUSTER_DATABASE_URL.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of the database ${name} is for another host (${message}). Use a host in MUSTER_DATABASE_URL that the certificate names.`;
  if (/^CERT_/.test(code))
    return `The certificate of the database ${name} is not valid (${message}). Replace it on the server, and check the clock here.`;
  if (/^ERR_(OSSL|SSL|TLS)/.test(code))
    return `TLS with the database ${name} fails (${message}). Check sslmode, and the files in sslrootcert, sslcert and sslkey of MUSTER_DATABASE_URL.`;
  if (message.includes('does not support SSL connections'))
    return `The database ${name} has no TLS, which MUSTER_DATABASE_URL asks for. Turn it on in PostgreSQL (ssl = on), or set sslmode=disable.`;
  if (/no encryption|requires a valid client certificate/.test(message))
    return `The database ${name} refuses the connection (${message}). Add sslmode=verify-full to MUSTER_DATABASE_URL if it asks for encryption, sslcert and sslkey if it asks for a certificate.`;
  if (code === '3D000')
    return `The database ${name} does not exist. Run as an administrator of PostgreSQL: CREATE DATABASE ${quoted(database)} OWNER ${quoted(user)};`;
  if (code === '42501') return missingRight(message, target);
  // Only a primary has a timeline of its own: see `serverTimeline`.
  if (code === '25006' || code === '55000')
    return `The database ${name} accepts no writes, which the start needs: it is a standby or set to read-only. Use the address of the primary in MUSTER_DATABASE_URL.`;
  if (!isAway(error)) return undefined;
  return `The database ${name} cannot be reached (${message}). Check MUSTER_DATABASE_URL, and that the server is running and allows this user to connect.`;
}

/** Names the statement that gives the right. */
function missingRight(message: string, { name, user, database }: Target): string {
  const [, kind, object = ''] =
    /permission denied for (schema|table|database|function) "?([^"]+)/.exec(message) ?? [];
  const [, owned] = /must be owner of table "?([^"]+)/.exec(message) ?? [];
  const grants: Record<string, string> = {
    schema: `GRANT USAGE, CREATE ON SCHEMA ${quoted(object)} TO ${quoted(user)};`,
    table: grantTables(user),
    function: `GRANT EXECUTE ON FUNCTION ${quoted(object)} TO ${quoted(user)};`,
    database: `GRANT CONNECT, CREATE ON DATABASE ${quoted(object)} TO ${quoted(user)};`,
  };
  const statement = owned
    ? `ALTER TABLE ${quoted(owned)} OWNER TO ${quoted(user)};`
    : (grants[kind ?? ''] ?? `ALTER DATABASE ${quoted(database)} OWNER TO ${quoted(user)};`);
  return `The user ${user} has too few rights in the database ${name} (${message}). Run there as an administrator: ${statement}`;
}

const grantTables = (user: string) =>
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${quoted(user)};`;

/** Plain names need no quotes. */
const quoted = (name: string) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** Explains that the user may not read and write these tables. */
export const missingTableRights = (tables: readonly string[], { name, user }: Target) =>
  new UsageError(
    `The user ${user} may not read and write ${tables.join(', ')} in the database ${name}. Run there as an administrator: ${grantTables(user)}`,
  );
