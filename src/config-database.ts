import { accessSync, constants } from 'node:fs';
import { nearest } from './core/text.ts';

const sslModes = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'];
const parameters = ['sslmode', ...fileParameters, 'sslnegotiation', 'host', 'application_name', 'options'];

const severalHosts =
  'names several hosts, which is not supported: use one name or address that always leads to the primary';

/** Returns what is wrong with the URL of a database, each as the end of a sentence; never its password. */
export function databaseUrlErrors(text: string): string[] {
  if (/^sqlite:.+/.test(text)) return [];
  const [authority = ''] = text.slice(text.indexOf('://') + 3).split(/[/?#]/, 1);
  // After the password, which may have a comma.
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) return [severalHosts];
  const url = /^postgres(ql)?:\/\/./.test(text) ? URL.parse(text) : null;
  if (!url)
    // What is not a URL may contain the password anywhere, so it is not repeated.
    return [
      'must be sqlite:<file> or postgres://user:password@host/database, with special characters of the password percent-encoded',
    ];
  return [...url.searchParams].flatMap(([name, value]) => parameterError(name, value) ?? []);
}

function parameterError(name: string, value: string): string | undefined {
  if (!parameters.includes(name)) {
    const meant = nearest(name.toLowerCase(), parameters);
    return `has the parameter ${name}, which is not supported; ${meant ? `did you mean ${meant}` : `remove it (supported: ${parameters.join(', ')})`}`;
  }
  if (name === 'host' && value.includes(',')) return severalHosts;
  if (name === 'sslmode' && !sslModes.includes(value))
    return `has sslmode=${value}, which must be one of ${sslModes.join(', ')}`;
  if (name === 'sslnegotiation' && !['postgres', 'direct'].includes(value))
    return `has sslnegotiation=${value}, which must be postgres or direct`;
  if (!fileParameters.includes(name)) return undefined;
  try {
    accessSync(value, constants.R_OK);
    return undefined;
  } catch (error) {
    return `has ${name}=${value}, a file that this user cannot read (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** The URL without its password, also if it is malformed. */
export const withoutPassword = (url: string): string =>
  url.replace(/^([^:]*:\/\/[^:/?#]*):[\s\S]*@/, '$1:…@');

/**
 * The URL for the driver. It verifies the certificate and the name in it in each of these modes, but warns that a later
 * version of it will not.
 */
export const withStrictTls = (url: string): string =>
  url.replace(/([?&]sslmode=)(require|verify-ca)(?=&|$)/, '$1verify-full');
