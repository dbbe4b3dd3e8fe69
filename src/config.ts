import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { isNetwork } from './core/addresses.ts';
import { UsageError } from './core/errors.ts';
import { nearest } from './core/text.ts';
import { isTimeZone } from './core/time-zones.ts';

export type Config = Readonly<{
  database_url: string;
  /** Whether PostgreSQL statements are prepared. Off behind a pooler that does not support it. */
  database_prepare: boolean;
  /** The maximum number of connections to PostgreSQL. */
  database_pool: number;
  host: string;
  port: number;
  /** The URL clients use, without a trailing slash. Defaults to the address the service listens on. */
  base_url: string | undefined;
  log_level: LogLevel;
  /** The time zone of the organization, which decides what day it is; undefined leaves the stored one, or UTC. */
  time_zone: string | undefined;
  /** Requests per minute and key, for keys without a limit of their own; 0 means no limit. */
  rate_limit: number;
  /** Failed authentication attempts per minute and client network; 0 means no limit. */
  failed_auth_limit: number;
  /** The maximum number of requests processed at once; the service rejects more with 503. */
  max_concurrent_requests: number;
  /** The addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trust_proxy: readonly string[];
  /** The origins whose pages may read responses (CORS); `*` allows all. */
  cors_origins: readonly string[];
  /** A port that serves metrics without a key. `/metrics` on the main port always requires one. */
  metrics_port: number | undefined;
  /** The size of the response cache in megabytes; 0 turns it off. */
  cache_mb: number;
  /** How many days events are stored. */
  event_retention_days: number;
  /** Hosts and networks that webhooks may send to although they are not public, and by http. */
  webhook_allow: readonly string[];
  /** The maximum number of webhooks, in all projects together. */
  max_webhooks: number;
  /** How many days the delivery log of webhooks is stored. */
  webhook_log_days: number;
  /** How long the service waits for requests in flight when it stops. */
  shutdown_seconds: number;
  /** Whether to send traces. The OpenTelemetry SDK reads its other variables itself. */
  tracing: boolean;
}>;

type LogLevel = (typeof logLevels)[number];
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Parses the settings. Reports all errors at once, so that one restart is enough to fix them. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.entries(environment).filter(([name, value]) => name.startsWith('MUSTER_') && value);
  const errors: string[] = given
    .filter(([name]) => !(name in settings))
    .map(([name]) => {
      const meant = nearest(
        name.toLowerCase(),
        names.map((known) => known.toLowerCase()),
      )?.toUpperCase();
      return `${name} is not a setting${meant ? `; did you mean ${meant}?` : ` (available: ${names.join(', ')})`}`;
    });

  const read = <N extends keyof typeof settings>(name: N): ReturnType<(typeof settings)[N]['parse']> => {
    const text = environment[name] || settings[name].default;
    const value = settings[name].parse(text);
    if (value === undefined) errors.push(`${name} is “${text}” but must be ${settings[name].expected}`);
    return value as ReturnType<(typeof settings)[N]['parse']>;
  };

  const config = {
    database_url: read('MUSTER_DATABASE_URL') ?? '',
    database_prepare: read('MUSTER_DATABASE_PREPARE') !== 'off',
    database_pool: read('MUSTER_DATABASE_POOL') ?? 0,
    host: read('MUSTER_HOST') ?? '',
    port: read('MUSTER_PORT') ?? 0,
    base_url: environment.MUSTER_BASE_URL ? read('MUSTER_BASE_URL') : undefined,
    log_level: read('MUSTER_LOG_LEVEL') ?? 'warn',
    time_zone: environment.MUSTER_TIME_ZONE ? read('MUSTER_TIME_ZONE') : undefined,
    rate_limit: read('MUSTER_RATE_LIMIT') ?? 0,
    failed_auth_limit: read('MUSTER_FAILED_AUTH_LIMIT') ?? 0,
    max_concurrent_requests: read('MUSTER_MAX_CONCURRENT_REQUESTS') ?? 0,
    trust_proxy: read('MUSTER_TRUST_PROXY') ?? [],
    cors_origins: read('MUSTER_CORS_ORIGINS') ?? [],
    metrics_port: environment.MUSTER_METRICS_PORT ? read('MUSTER_METRICS_PORT') : undefined,
    cache_mb: read('MUSTER_CACHE_MB') ?? 0,
    event_retention_days: read('MUSTER_EVENT_RETENTION_DAYS') ?? 0,
    webhook_allow: read('MUSTER_WEBHOOK_ALLOW') ?? [],
    max_webhooks: read('MUSTER_MAX_WEBHOOKS') ?? 0,
    webhook_log_days: read('MUSTER_WEBHOOK_LOG_DAYS') ?? 0,
    shutdown_seconds: read('MUSTER_SHUTDOWN_SECONDS') ?? 0,
    tracing: sendsTraces(environment),
  };
  const protocol = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (config.tracing && protocol && !['http/protobuf', 'http/json'].includes(protocol))
    errors.push(`OTEL_EXPORTER_OTLP_PROTOCOL is “${protocol}” but must be http/protobuf or http/json`);
  if (errors.length > 0) throw new UsageError(`The settings have errors: ${errors.join('; ')}.`);
  return Object.freeze(config);
}

const sendsTraces = (environment: NodeJS.ProcessEnv) =>
  Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
  environment.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  environment.OTEL_TRACES_EXPORTER !== 'none';

/** The name of the database engine in traces. */
export const databaseSystem = ({ database_url }: Config) =>
  database_url.startsWith('sqlite:') ? 'sqlite' : 'postgresql';

/** The URL that clients use, as far as it is known before the service listens. */
export const baseUrlOf = ({ base_url, host, port }: Config) =>
  base_url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The URL of a database that is one file. */
export const fileDatabaseUrl = (path: string) => `sqlite:${path}`;

/**
 * Merges the process environment with the `.env` file of the working directory. The process environment wins. It also gets
 * the `OTEL_…` variables of the file, because the OpenTelemetry SDK reads them there.
 */
export function environmentWithFile(environment: NodeJS.ProcessEnv, file = '.env'): NodeJS.ProcessEnv {
  if (!existsSync(file)) return environment;
  const settings = parseEnv(readFileSync(file, 'utf8'));
  for (const [name, value] of Object.entries(settings))
    if (name.startsWith('OTEL_')) environment[name] ??= value;
  return { ...settings, ...environment };
}

const settings = {
  MUSTER_DATABASE_URL: {
    default: 'sqlite:data/muster.db',
    expected: 'sqlite:<file> or postgres://user:password@host/database',
    parse: (text: string) =>
      /^sqlite:.+/.test(text) || (/^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)) ? text : undefined,
  },
  MUSTER_DATABASE_PREPARE: {
    default: 'on',
    expected: 'on, or off for a connection pooler without prepared statements',
    parse: (text: string) => (['on', 'off'] as const).find((value) => value === text),
  },
  MUSTER_DATABASE_POOL: {
    default: '24',
    expected: 'a whole number of connections from 5 to 1000',
    parse: (text: string) => {
      const connections = parseInteger(text, 1000);
      return connections !== undefined && connections >= 5 ? connections : undefined;
    },
  },
  MUSTER_HOST: {
    default: '127.0.0.1',
    expected: 'an address to listen on, such as 127.0.0.1 or 0.0.0.0',
    parse: (text: string) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  },
  MUSTER_PORT: {
    default: '8080',
    expected: 'a port from 0 to 65535 (0 picks a free port)',
    parse: (text: string) => parseInteger(text, 65_535),
  },
  MUSTER_BASE_URL: {
    default: '',
    expected: 'the http(s) URL clients use, without a query, such as https://ops.example.com/api',
    parse: (text: string) =>
      /^https?:\/\/[^?#]+$/.test(text) && URL.canParse(text) ? text.replace(/\/+$/, '') : undefined,
  },
  MUSTER_LOG_LEVEL: {
    default: 'warn',
    expected: `one of ${logLevels.join(', ')}`,
    parse: (text: string) => logLevels.find((level) => level === text),
  },
  MUSTER_TIME_ZONE: {
    default: '',
    expected: 'a time zone of the IANA database, such as America/Los_Angeles, Europe/Berlin or UTC',
    parse: (text: string) => (isTimeZone(text) ? text : undefined),
  },
  MUSTER_RATE_LIMIT: {
    default: '600',
    expected: 'a whole number of requests per minute up to 1000000000 (0 means no limit)',
    parse: (text: string) => parseInteger(text, 1_000_000_000),
  },
  MUSTER_FAILED_AUTH_LIMIT: {
    default: '30',
    expected: 'a whole number of attempts per minute up to 1000000000 (0 means no limit)',
    parse: (text: string) => parseInteger(text, 1_000_000_000),
  },
  MUSTER_MAX_CONCURRENT_REQUESTS: {
    default: '2000',
    expected: 'a whole number of concurrent requests from 1 to 100000',
    parse: (text: string) => parseInteger(text, 100_000) || undefined,
  },
  MUSTER_TRUST_PROXY: {
    default: '',
    expected: 'addresses or networks of proxies, separated by commas, such as 127.0.0.1,10.0.0.0/8',
    parse: (text: string) => parseList(text, isNetwork),
  },
  MUSTER_CORS_ORIGINS: {
    default: '',
    expected: 'origins separated by commas, such as https://ops.example.com, or * for all',
    parse: (text: string) => parseList(text, (item) => item === '*' || isOrigin(item)),
  },
  MUSTER_METRICS_PORT: {
    default: '',
    expected: 'a port from 1 to 65535',
    parse: (text: string) => parseInteger(text, 65_535) || undefined,
  },
  MUSTER_CACHE_MB: {
    default: '64',
    expected: 'a whole number of megabytes from 0 to 65536',
    parse: (text: string) => parseInteger(text, 65_536),
  },
  MUSTER_EVENT_RETENTION_DAYS: {
    default: '90',
    expected: 'a whole number of days from 3 to 3650',
    parse: (text: string) => {
      const days = parseInteger(text, 3650);
      return days !== undefined && days >= 3 ? days : undefined;
    },
  },
  MUSTER_WEBHOOK_ALLOW: {
    default: '',
    expected: 'host names, addresses or networks, separated by commas, such as hooks.internal,10.1.0.0/16',
    parse: (text: string) =>
      parseList(text, (item) => isNetwork(item) || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(item)),
  },
  MUSTER_MAX_WEBHOOKS: {
    default: '50',
    expected: 'a whole number of webhooks from 1 to 1000',
    parse: (text: string) => parseInteger(text, 1000) || undefined,
  },
  MUSTER_WEBHOOK_LOG_DAYS: {
    default: '30',
    expected: 'a whole number of days from 1 to 3650',
    parse: (text: string) => parseInteger(text, 3650) || undefined,
  },
  MUSTER_SHUTDOWN_SECONDS: {
    default: '30',
    expected: 'a whole number of seconds from 0 to 3600',
    parse: (text: string) => parseInteger(text, 3600),
  },
};

const names = Object.keys(settings);

const parseInteger = (text: string, max: number) =>
  /^\d{1,10}$/.test(text) && Number(text) <= max ? Number(text) : undefined;

function parseList(text: string, isItem: (item: string) => boolean): string[] | undefined {
  const items = text.split(',').flatMap((item) => item.trim() || []);
  return items.every(isItem) ? items : undefined;
}

const isOrigin = (text: string) =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
