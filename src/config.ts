import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { databaseUrlErrors, withoutPassword } from './config-database.ts';
import { UsageError } from './core/errors.ts';
import { isNetwork } from './core/network/addresses.ts';
import { presets, type Scope, scopes } from './core/scopes.ts';
import { nearest } from './core/text.ts';
import { isTimeZone } from './core/time-zones.ts';
import { findTraceSettingErrors, sendsTraces } from './core/trace-settings.ts';

type Setting<T> = {
  /** The value without the variable. */
  default: T;
  /** Completes the message about an invalid value. */
  expected: string;
  /** Returns undefined for an invalid value. */
  parse(text: string): T | undefined;
  /** Whether messages leave out the value, and a variable that ends with `_FILE` may name a file that has it. */
  isSecret?: true;
};

const setting = <T>(value: T, expected: string, parse: (text: string) => T | undefined): Setting<T> => ({
  default: value,
  expected,
  parse,
});

const integer = (value: number, unit: string, min: number, max: number) =>
  setting(value, `a whole number of ${unit} from ${min} to ${max}`, (text) => parseInteger(text, min, max));

const limit = (value: number, unit: string) =>
  setting(value, `a whole number of ${unit} per minute up to 1000000000 (0 means no limit)`, (text) =>
    parseInteger(text, 0, 1_000_000_000),
  );

const onOff = (value: boolean) =>
  setting(value, 'on or off', (text) => (text === 'on' || text === 'off' ? text === 'on' : undefined));

const list = (expected: string, isItem: (item: string) => boolean) =>
  setting<readonly string[]>([], expected, (text) => {
    const items = text.split(',').flatMap((item) => item.trim() || []);
    return items.every(isItem) ? items : undefined;
  });

const parseInteger = (text: string, min: number, max: number) =>
  /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined;

/** The access of people for whom a claim has a value. */
type ClaimAccess = { value: string; scopes: readonly Scope[] };

function parseScopes(text: string): readonly Scope[] | undefined {
  const preset = Object.entries(presets).find(([name]) => name === text);
  if (preset) return preset[1];
  const named = text.split('+');
  return named.every((name): name is Scope => scopes.some((scope) => scope === name)) ? named : undefined;
}

function parseClaimAccess(text: string): ClaimAccess[] | undefined {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    return { value: pair.slice(0, at).trim(), scopes: parseScopes(pair.slice(at + 1).trim()) };
  });
  return pairs.every((pair): pair is ClaimAccess => pair.value !== '' && pair.scopes !== undefined)
    ? pairs
    : undefined;
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '');
  if (url === null || url.search !== '' || url.hash !== '' || hasCredentials(url)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
}

const hasCredentials = ({ username, password }: URL) => username !== '' || password !== '';

/** The URL as a browser writes it, so that any part of it can be in a header. */
function parseBaseUrl(text: string): string | undefined {
  const url = /^https?:\/\/[^?#]+$/.test(text) ? URL.parse(text) : null;
  return url === null || hasCredentials(url) ? undefined : url.href.replace(/\/+$/, '');
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The settings. The environment variable of `port` is `MUSTER_PORT`. */
const settings = {
  /** `databaseUrlErrors` validates it, without showing its password. */
  database_url: { ...setting('sqlite:data/muster.db', '', (text) => text), isSecret: true as const },
  /** Whether PostgreSQL statements are prepared. Off behind a pooler that does not support it. */
  database_prepare: setting(true, 'on, or off for a connection pooler without prepared statements', (text) =>
    text === 'on' || text === 'off' ? text === 'on' : undefined,
  ),
  /** The maximum number of connections to PostgreSQL. */
  database_pool: integer(24, 'connections', 5, 1000),
  /** The file that the first key is written to, instead of standard output; `off` creates no key. */
  first_key_file: setting<string | undefined>(undefined, 'a file to create', (text) => text),
  host: setting('127.0.0.1', 'an address to listen on, such as 127.0.0.1 or 0.0.0.0', (text) =>
    /^[\w.:-]+$/.test(text) ? text : undefined,
  ),
  port: setting(8080, 'a port from 0 to 65535 (0 picks a free port)', (text) =>
    parseInteger(text, 0, 65_535),
  ),
  /** The URL clients use, without a trailing slash. Defaults to the address the service listens on. */
  base_url: setting<string | undefined>(
    undefined,
    'the http(s) URL clients use, without a query or a password, such as https://ops.example.com/api',
    parseBaseUrl,
  ),
  log_level: setting<(typeof logLevels)[number]>('warn', `one of ${logLevels.join(', ')}`, (text) =>
    logLevels.find((level) => level === text),
  ),
  /** The time zone of the organization, which decides what day it is; undefined leaves the stored one, or UTC. */
  time_zone: setting<string | undefined>(
    undefined,
    'a time zone of the IANA database, such as America/Los_Angeles, Europe/Berlin or UTC',
    (text) => (isTimeZone(text) ? text : undefined),
  ),
  /** Requests per minute and key, for keys without a limit of their own; 0 means no limit. */
  rate_limit: limit(600, 'requests'),
  /** Failed authentication attempts per minute and client network; 0 means no limit. */
  failed_auth_limit: limit(30, 'attempts'),
  /** A session ends after this many days without a request. */
  session_idle_days: integer(7, 'days', 1, 365),
  /** A session ends after this many days, however often it is used. */
  session_days: integer(30, 'days', 1, 365),
  /** Whether people can sign in with a password. */
  passwords: onOff(true),
  /** The identity provider (OpenID Connect); without it, people sign in in other ways. */
  oidc_issuer: setting<string | undefined>(
    undefined,
    'the https URL of an identity provider, or an http URL on this machine, such as https://login.example.com',
    (text) => (isIssuer(text) ? text : undefined),
  ),
  oidc_client_id: setting<string | undefined>(
    undefined,
    'the client id at the identity provider',
    (text) => text,
  ),
  oidc_client_secret: {
    ...setting<string | undefined>(undefined, 'the client secret at the identity provider', (text) => text),
    isSecret: true as const,
  },
  /** The text of the button on the sign-in page. */
  oidc_label: setting(
    'Sign in with your organization',
    'the text of a button, up to 60 characters',
    (text) => (text.length <= 60 ? text : undefined),
  ),
  oidc_scopes: setting(
    'openid email profile',
    'OpenID Connect scopes, such as openid email profile',
    (text) => (/^openid( [\w.:/-]+)*$/.test(text) ? text : undefined),
  ),
  /** Only people with an e-mail address of these domains can sign in through the provider. */
  oidc_domains: list('domains separated by commas, such as example.com', (item) =>
    /^[\w-]+(\.[\w-]+)+$/.test(item),
  ),
  /** The claim whose values decide the access. */
  oidc_claim: setting('groups', 'the name of a claim, such as groups or roles', (text) =>
    /^[\w.:/-]+$/.test(text) ? text : undefined,
  ),
  /** The scopes by value of that claim. */
  oidc_access: setting<readonly ClaimAccess[]>(
    [],
    'pairs separated by commas, such as risk-office=editor,it-admins=administrator, where the access is viewer, editor, ' +
      'administrator, or scopes joined by +',
    (text) => parseClaimAccess(text),
  ),
  /** The scopes of everybody else who signs in through the provider; none without it. */
  oidc_default_access: setting<readonly Scope[]>(
    [],
    'viewer, editor, administrator, or scopes joined by +',
    (text) => parseScopes(text),
  ),
  /** Whether a verified person who is not on the roster is added to it. */
  oidc_add_people: onOff(false),
  /** Whether the sign-in page goes to the provider at once. */
  oidc_redirect: onOff(false),
  /** Whether an e-mail address counts as verified although the provider does not say so. */
  oidc_trust_email: onOff(false),
  /** The maximum number of requests processed at once; the service rejects more with 503. */
  max_concurrent_requests: integer(2000, 'concurrent requests', 1, 100_000),
  /** The addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trust_proxy: list(
    'addresses or networks of proxies, separated by commas, such as 127.0.0.1,10.0.0.0/8',
    isNetwork,
  ),
  /** The origins whose pages may read responses (CORS); `*` allows all. */
  cors_origins: list(
    'origins separated by commas, such as https://ops.example.com, or * for all',
    (item) => item === '*' || (/^https?:/.test(item) && URL.parse(item)?.origin === item),
  ),
  /** A port that serves metrics without a key. `/metrics` on the main port always requires one. */
  metrics_port: setting<number | undefined>(undefined, 'a port from 1 to 65535', (text) =>
    parseInteger(text, 1, 65_535),
  ),
  /** The size of the response cache in megabytes; 0 turns it off. */
  cache_mb: integer(64, 'megabytes', 0, 65_536),
  /** How many days events are stored. */
  event_retention_days: integer(90, 'days', 3, 3650),
  /** How many days the history is stored; undefined means for ever. */
  history_retention_days: setting<number | undefined>(
    undefined,
    'a whole number of days from 100 to 36500',
    (text) => parseInteger(text, 100, 36_500),
  ),
  /** Hosts and networks that webhooks may send to although they are not public, and by http. */
  webhook_allow: list(
    'host names, addresses or networks, separated by commas, such as hooks.internal,10.1.0.0/16',
    (item) => isNetwork(item) || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(item),
  ),
  /** The maximum number of webhooks, in all projects together. */
  max_webhooks: integer(50, 'webhooks', 1, 1000),
  /** How many days the delivery log of webhooks is stored. */
  webhook_log_days: integer(30, 'days', 1, 3650),
  /** The folder of scheduled backups: `muster backup` writes there, and metrics tell the age of the newest one. */
  backup_dir: setting<string | undefined>(undefined, 'a folder', (text) => text),
  /** How long a stopping service still serves requests, with `/readyz` already 503, before it closes its port. */
  drain_seconds: integer(0, 'seconds', 0, 3600),
  /** How long the service waits for requests in flight when it stops. */
  shutdown_seconds: integer(30, 'seconds', 0, 3600),
};

type Settings = { [Name in keyof typeof settings]: (typeof settings)[Name]['default'] };

/**
 * `tracing` is whether to send traces; the OpenTelemetry SDK reads its variables itself. `thread_pool` is the number of
 * threads that Node uses for files, name resolution and hashes.
 */
export type Config = Readonly<Settings & { tracing: boolean; thread_pool: number }>;

/** Parses the settings. Reports all errors at once, so that one restart is enough to fix them. */
export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const environment = withoutLineEnds(variables);
  const known = Object.entries<Setting<unknown>>(settings).flatMap(([name, { isSecret }]) =>
    isSecret ? [variableOf(name), `${variableOf(name)}_FILE`] : variableOf(name),
  );
  const errors = Object.entries(environment)
    .filter(([name, value]) => name.startsWith('MUSTER_') && value && !known.includes(name))
    .map(([name]) => {
      const meant = nearest(
        name.toLowerCase(),
        known.map((one) => one.toLowerCase()),
      )?.toUpperCase();
      return `${name} is not a setting${meant ? `; did you mean ${meant}?` : ` (available: ${known.join(', ')})`}`;
    });
  const values = Object.entries<Setting<unknown>>(settings).map(
    ([name, { default: value, expected, parse, isSecret }]) => {
      const text = isSecret
        ? readSecret(environment, variableOf(name), errors)
        : environment[variableOf(name)];
      const hasControls = /\p{Cc}/u.test(text ?? '');
      const parsed = text && !hasControls ? parse(text) : value;
      if (hasControls) errors.push(`${variableOf(name)} has a line break or another control character`);
      else if (text && parsed === undefined)
        errors.push(
          `${variableOf(name)} ${isSecret ? '' : `is “${withoutPassword(text)}” but `}must be ${expected}`,
        );
      return [name, parsed];
    },
  );
  errors.push(...findTraceSettingErrors(environment), ...incompleteProvider(environment));
  const config = Object.fromEntries(values) as Settings;
  errors.push(
    ...databaseUrlErrors(config.database_url).map((error) => `${variableOf('database_url')} ${error}`),
  );
  if (config.metrics_port !== undefined && config.metrics_port === config.port)
    errors.push(`MUSTER_METRICS_PORT is ${config.port}, as MUSTER_PORT is, but must be another port`);
  if (errors.length > 0) throw new UsageError(`The settings have errors: ${errors.join('; ')}.`);
  const thread_pool = Number(environment.UV_THREADPOOL_SIZE) || 4;
  return Object.freeze({ ...config, tracing: sendsTraces(environment), thread_pool });
}

/** The settings in force and where each comes from, without secrets. `value` is null without one. */
export function describeSettings(environment: NodeJS.ProcessEnv, file?: string) {
  const all = withoutLineEnds(environmentWithFile(environment, file));
  const config = readConfig(all);
  return Object.entries<Setting<unknown>>(settings).map(([key, { isSecret }]) => {
    const name = variableOf(key);
    const value = config[key as keyof Settings];
    // A list is shown as it was written.
    const text =
      typeof value === 'object' ? all[name] : value === true ? 'on' : value === false ? 'off' : value;
    const mask = key === 'database_url' ? withoutPassword : isSecret ? () => '…' : String;
    return {
      name,
      value: text === undefined || text === '' ? null : mask(String(text)),
      source: all[`${name}_FILE`]
        ? `file ${all[`${name}_FILE`]}`
        : all[name]
          ? environment[name] === undefined
            ? (file ?? '.env')
            : 'environment'
          : 'default',
    };
  });
}

/** A variable that was made from a file may end with its line break. */
const withoutLineEnds = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      name.startsWith('MUSTER_') ? value?.replace(/[\r\n]+$/, '') : value,
    ]),
  );

/** Some editors begin a text with a byte order mark. */
const readText = (file: string) => readFileSync(file, 'utf8').replace(/^\uFEFF/, '');

/** The value of a variable, or the contents of the file that the variable with `_FILE` names, without line breaks at its end. */
function readSecret(environment: NodeJS.ProcessEnv, name: string, errors: string[]): string | undefined {
  const file = environment[`${name}_FILE`];
  if (!file) return environment[name];
  if (environment[name]) {
    errors.push(`${name} and ${name}_FILE are both set, but only one of them can be`);
    return undefined;
  }
  try {
    const text = readText(file).replace(/[\r\n]+$/, '');
    if (text === '') errors.push(`${name}_FILE is “${file}”, which is empty`);
    return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    errors.push(`${name}_FILE is “${file}”, which cannot be read (${code})`);
    return undefined;
  }
}

/** Settings of an identity provider without the two that it needs. */
function incompleteProvider(environment: NodeJS.ProcessEnv): string[] {
  const needed = ['MUSTER_OIDC_ISSUER', 'MUSTER_OIDC_CLIENT_ID'];
  const isUsed = Object.entries(environment).some(
    ([name, value]) => name.startsWith('MUSTER_OIDC_') && value,
  );
  return isUsed
    ? needed
        .filter((name) => !environment[name])
        .map((name) => `${name} is missing, which the other MUSTER_OIDC_ settings need`)
    : [];
}

const variableOf = (name: string) => `MUSTER_${name.toUpperCase()}`;

/** The name of the database engine in traces. */
export const databaseSystem = ({ database_url }: Config) =>
  database_url.startsWith('sqlite:') ? 'sqlite' : 'postgresql';

/** The URL that clients use, as far as it is known before the service listens. */
export function baseUrlOf({ base_url, host, port }: Config): string {
  const name = isLoopback(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return base_url ?? `http://${name}:${port}`;
}

export const isLoopback = (address: string) => address === '127.0.0.1' || address === '::1';

/** The URL of a database that is one file. */
export const fileDatabaseUrl = (path: string) => `sqlite:${path}`;

/**
 * Merges the process environment with a file, or with `.env` of the working directory if there is one. The process environment wins. It also gets
 * the `OTEL_…` variables of the file, because the OpenTelemetry SDK reads them there.
 */
export function environmentWithFile(environment: NodeJS.ProcessEnv, file?: string): NodeJS.ProcessEnv {
  if (file === undefined && !existsSync('.env')) return environment;
  const settings = parseEnv(readSettingsFile(file ?? '.env'));
  for (const [name, value] of Object.entries(settings))
    if (name.startsWith('OTEL_')) environment[name] ??= value;
  return { ...settings, ...environment };
}

function readSettingsFile(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `The settings in ${file} cannot be read (${code}). Make it a file that the service can read.`,
    );
  }
}
