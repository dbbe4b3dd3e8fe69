import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../test/process.ts';
import { environmentWithFile, readConfig } from './config.ts';

test('has a default for every setting', () => {
  assert.deepEqual(readConfig({}), {
    database_url: 'sqlite:data/muster.db',
    database_prepare: true,
    database_pool: 24,
    first_key_file: undefined,
    host: '127.0.0.1',
    port: 8080,
    base_url: undefined,
    log_level: 'warn',
    time_zone: undefined,
    rate_limit: 600,
    failed_auth_limit: 30,
    session_idle_days: 7,
    session_days: 30,
    passwords: true,
    oidc_issuer: undefined,
    oidc_client_id: undefined,
    oidc_client_secret: undefined,
    oidc_label: 'Sign in with your organization',
    oidc_scopes: 'openid email profile',
    oidc_domains: [],
    oidc_claim: 'groups',
    oidc_access: [],
    oidc_default_access: [],
    oidc_add_people: false,
    oidc_redirect: false,
    oidc_trust_email: false,
    max_concurrent_requests: 2000,
    trust_proxy: [],
    cors_origins: [],
    metrics_port: undefined,
    cache_mb: 64,
    event_retention_days: 90,
    history_retention_days: undefined,
    webhook_allow: [],
    max_webhooks: 50,
    webhook_log_days: 30,
    backup_dir: undefined,
    drain_seconds: 0,
    shutdown_seconds: 30,
    tracing: false,
    thread_pool: 4,
  });
});

test('sends traces if a collector is set and the SDK is not switched off', () => {
  const tracing = (environment: Record<string, string>) => readConfig(environment).tracing;
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';
  assert.equal(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT }), true);
  assert.equal(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }), true);
  assert.equal(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), false);
  assert.equal(tracing({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), false);
  assert.throws(
    () => tracing({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }),
    /“grpc” but must be http\/protobuf or http\/json/,
  );
});

test('names each variable of OpenTelemetry that has an invalid value', () => {
  const invalid: Record<string, string[]> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: ['foo', 'localhost:4318', 'ftp://localhost', 'http://'],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['foo'],
    OTEL_EXPORTER_OTLP_TIMEOUT: ['soon', '0'],
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: ['secret', 'a=%zz'],
    OTEL_EXPORTER_OTLP_COMPRESSION: ['zip'],
    OTEL_EXPORTER_OTLP_CERTIFICATE: ['/nothing/here.pem'],
    OTEL_TRACES_EXPORTER: ['console'],
    OTEL_SDK_DISABLED: ['yes'],
    OTEL_RESOURCE_ATTRIBUTES: ['production'],
    OTEL_TRACES_SAMPLER: ['sometimes'],
    OTEL_TRACES_SAMPLER_ARG: ['5', 'half'],
    OTEL_PROPAGATORS: ['tracecontext,jaeger'],
    OTEL_BSP_MAX_QUEUE_SIZE: ['all', '0'],
    OTEL_BSP_SCHEDULE_DELAY: ['-1'],
  };
  for (const [name, values] of Object.entries(invalid))
    for (const value of values)
      assert.throws(
        () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', [name]: value }),
        ({ message }: Error) => {
          assert.match(message, new RegExp(`^The settings have errors: ${name} [^\n]*must be [^\n]+\\.$`));
          return !message.includes('secret');
        },
        `${name}=${value}`,
      );
  // Without a collector they are those of other programs.
  assert.equal(readConfig({ OTEL_TRACES_SAMPLER: 'sometimes' }).tracing, false);
  const valid = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a, x-team=ops',
    OTEL_EXPORTER_OTLP_CERTIFICATE: import.meta.filename,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production,a=',
    OTEL_PROPAGATORS: 'tracecontext, b3',
    OTEL_SDK_DISABLED: 'False',
  };
  assert.equal(readConfig(valid).tracing, true);
});

test('does not repeat a password in an error', () => {
  assert.throws(
    () => readConfig({ MUSTER_DATABASE_URL: 'postgres:/muster:hunter2@db/muster' }),
    ({ message }: Error) => message.includes('MUSTER_DATABASE_URL') && !message.includes('hunter2'),
  );
});

test('secrets can be read from files', (t) => {
  const folder = temporaryFolder(t);
  const fileWith = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = readConfig({
    MUSTER_DATABASE_URL_FILE: fileWith('url', 'postgres://muster:hunter2@db/muster\n'),
    MUSTER_OIDC_ISSUER: 'https://login.example.com',
    MUSTER_OIDC_CLIENT_ID: 'muster',
    MUSTER_OIDC_CLIENT_SECRET_FILE: fileWith('secret', 's3cret '),
  });
  assert.equal(config.database_url, 'postgres://muster:hunter2@db/muster');
  assert.equal(config.oidc_client_secret, 's3cret ');
  for (const [environment, expected] of [
    [
      { MUSTER_DATABASE_URL_FILE: '/nothing/here' },
      /MUSTER_DATABASE_URL_FILE is .* cannot be read \(ENOENT\)/,
    ],
    [{ MUSTER_DATABASE_URL_FILE: fileWith('empty', '\n') }, /MUSTER_DATABASE_URL_FILE is .* is empty/],
    [{ MUSTER_DATABASE_URL_FILE: fileWith('wrong', 'hunter2') }, /: MUSTER_DATABASE_URL must be/],
    [
      { MUSTER_DATABASE_URL: 'sqlite:a', MUSTER_DATABASE_URL_FILE: join(folder, 'url') },
      /MUSTER_DATABASE_URL and MUSTER_DATABASE_URL_FILE are both set/,
    ],
    [{ MUSTER_PORT_FILE: join(folder, 'url') }, /MUSTER_PORT_FILE is not a setting/],
  ] as const)
    assert.throws(
      () => readConfig(environment),
      ({ message }: Error) => expected.test(message) && !message.includes('hunter2'),
      String(expected),
    );
});

test('the base URL is stored as it can be in a header', () => {
  const baseUrl = (MUSTER_BASE_URL: string) => readConfig({ MUSTER_BASE_URL }).base_url;
  assert.equal(baseUrl('https://ops.example.com/api/'), 'https://ops.example.com/api');
  assert.equal(baseUrl('https://ops.example.com'), 'https://ops.example.com');
  assert.equal(
    baseUrl('https://Über.example.com/läger/人'),
    'https://xn--ber-goa.example.com/l%C3%A4ger/%E4%BA%BA',
  );
  for (const url of [
    'https://ada:hunter2@ops.example.com',
    'https://:hunter2@ops.example.com',
    'https://ada@x.y',
  ])
    assert.throws(
      () => baseUrl(url),
      ({ message }: Error) => /without a query or a password/.test(message) && !message.includes('hunter2'),
      url,
    );
  const issuer = {
    MUSTER_OIDC_ISSUER: 'https://:hunter2@login.example.com',
    MUSTER_OIDC_CLIENT_ID: 'muster',
  };
  assert.throws(
    () => readConfig(issuer),
    ({ message }: Error) => message.includes('MUSTER_OIDC_ISSUER') && !message.includes('hunter2'),
  );
});

test('a line break at the end of a variable is no part of it, and within it an error', () => {
  const config = readConfig({
    MUSTER_BASE_URL: 'https://ops.example.com\n',
    MUSTER_DATABASE_URL: 'sqlite:data/muster.db\r\n',
    MUSTER_PORT: '80\n',
    MUSTER_TIME_ZONE: '\n',
  });
  assert.equal(config.base_url, 'https://ops.example.com');
  assert.equal(config.database_url, 'sqlite:data/muster.db');
  assert.equal(config.port, 80);
  assert.equal(config.time_zone, undefined);
  for (const [name, value] of [
    ['MUSTER_BASE_URL', 'https://ops.example.com/a\nb'],
    ['MUSTER_DATABASE_URL', 'sqlite:data\t/hunter2.db'],
    ['MUSTER_BACKUP_DIR', '\u007f'],
  ] as const)
    assert.throws(() => readConfig({ [name]: value }), {
      message: `The settings have errors: ${name} has a line break or another control character.`,
    });
});

test('a byte order mark at the start of a .env or of a secret is no part of it', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, '.env');
  writeFileSync(file, '\uFEFFMUSTER_PORT=81\nMUSTER_RATE_LIMIT=5\n');
  const environment = environmentWithFile({}, file);
  assert.deepEqual({ ...environment }, { MUSTER_PORT: '81', MUSTER_RATE_LIMIT: '5' });
  writeFileSync(join(folder, 'url'), '\uFEFFsqlite:a.db\n');
  assert.equal(readConfig({ MUSTER_DATABASE_URL_FILE: join(folder, 'url') }).database_url, 'sqlite:a.db');
});

test('metrics need a port of their own', () => {
  assert.throws(
    () => readConfig({ MUSTER_METRICS_PORT: '8080' }),
    /^UsageError: The settings have errors: MUSTER_METRICS_PORT is 8080, as MUSTER_PORT is, but must be another port\.$/,
  );
  assert.equal(readConfig({ MUSTER_METRICS_PORT: '8080', MUSTER_PORT: '80' }).metrics_port, 8080);
});

test('a .env that cannot be read is one sentence', () => {
  assert.throws(() => environmentWithFile({}, import.meta.dirname), {
    message: `The settings in ${import.meta.dirname} cannot be read (EISDIR). Make it a file that the service can read.`,
  });
});

test('reports every error at once', () => {
  const environment = {
    MUSTER_PORT: 'eighty',
    MUSTER_PROT: '80',
    MUSTER_DATABASE_URL: 'mysql://x',
    MUSTER_DATABASE_POOL: '4',
    MUSTER_BASE_URL: 'ops.example.com',
    MUSTER_LOG_LEVEL: 'loud',
    MUSTER_TIME_ZONE: 'Pacific Time',
    MUSTER_RATE_LIMIT: '-1',
    MUSTER_FAILED_AUTH_LIMIT: 'few',
    MUSTER_MAX_CONCURRENT_REQUESTS: '0',
    MUSTER_TRUST_PROXY: '10.0.0.0/8, 10.0.0.0/33',
    MUSTER_CORS_ORIGINS: 'https://ops.example.com/',
  };
  assert.throws(
    () => readConfig(environment),
    ({ message }: Error) => {
      for (const part of [
        'MUSTER_PORT is “eighty”',
        'MUSTER_PROT is not a setting; did you mean MUSTER_PORT?',
      ]) {
        assert.ok(message.includes(part), message);
      }
      for (const name of Object.keys(environment)) assert.ok(message.includes(name), name);
      return !message.includes('\n');
    },
  );
});

test('explains what is wrong with the URL of a database, without its password', () => {
  const errorOf = (url: string) => {
    try {
      readConfig({ MUSTER_DATABASE_URL: url });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const server = 'postgres://ada:secret@db/muster';
  for (const [url, expected] of [
    [`${server}?sslmdoe=require`, /MUSTER_DATABASE_URL has the parameter sslmdoe, .*did you mean sslmode\.$/],
    [
      `${server}?channel_binding=require`,
      /has the parameter channel_binding, which is not supported; remove/,
    ],
    [`${server}?sslmode=full`, /sslmode=full, which must be one of disable, require/],
    [`${server}?sslmode=verify-full&sslrootcert=/no/ca.pem`, /sslrootcert=\/no\/ca.pem, a file .*\(ENOENT\)/],
    ['postgre://ada:secret@db/muster', /MUSTER_DATABASE_URL must be sqlite:<file> or/],
    ['postgres://ada:secret@db1,db2/muster', /MUSTER_DATABASE_URL names several hosts, .* one name/],
    ['postgres://ada:sec,ret@db1:5432,db2:5432/muster?sslmode=require', /names several hosts/],
    ['postgresql://ada:secret@localhost/muster?host=db1,db2', /names several hosts/],
    ['postgres://ada:secret#1@db/muster', /MUSTER_DATABASE_URL must be .*percent-encoded/],
  ] as const) {
    assert.match(errorOf(url), expected);
    assert.doesNotMatch(errorOf(url), /secret/);
  }
  const file = import.meta.filename;
  for (const url of [
    server,
    'postgres://ada:sec,ret@db/muster',
    `${server}?sslmode=verify-full&sslrootcert=${file}&sslcert=${file}&sslkey=${file}`,
    'postgres://ada@localhost/muster?host=/var/run/postgresql',
    'sqlite:a.db',
  ])
    assert.equal(errorOf(url), '', url);
});

test('takes the slash off the base URL', () => {
  assert.equal(
    readConfig({ MUSTER_BASE_URL: 'https://ops.example.com/api/' }).base_url,
    'https://ops.example.com/api',
  );
});

test('needs an issuer and a client id for an identity provider', () => {
  const provider = { MUSTER_OIDC_ISSUER: 'https://login.example.com', MUSTER_OIDC_CLIENT_ID: 'muster' };
  assert.throws(() => readConfig({ MUSTER_OIDC_REDIRECT: 'on' }), /MUSTER_OIDC_ISSUER is missing/);
  for (const issuer of ['http://localhost:8081/realms/a', 'http://[::1]:1', 'https://login.example.com/a/'])
    assert.equal(readConfig({ ...provider, MUSTER_OIDC_ISSUER: issuer }).oidc_issuer, issuer);
  for (const issuer of [
    'http://login.example.com',
    'http://localhost.example.com',
    'https://login.example.com?a=b',
    'https://login.example.com#a',
    'https://user@login.example.com',
    'login.example.com',
  ])
    assert.throws(() => readConfig({ ...provider, MUSTER_OIDC_ISSUER: issuer }), /must be the https URL/);
  const { oidc_access } = readConfig({
    ...provider,
    MUSTER_OIDC_ACCESS: 'Risk office=viewer, cn=it=keys.read+keys.manage',
  });
  assert.deepEqual(oidc_access, [
    { value: 'Risk office', scopes: ['personnel.read', 'projects.read', 'events.read'] },
    { value: 'cn=it', scopes: ['keys.read', 'keys.manage'] },
  ]);
  for (const access of ['office', 'office=', '=viewer', 'office=reader', 'office=viewer,'])
    assert.throws(() => readConfig({ ...provider, MUSTER_OIDC_ACCESS: access }), /must be pairs/);
});

test('docs/operations.md and docs/identity.md list every setting with its default', () => {
  const text = ['operations', 'identity']
    .map((name) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8'))
    .join('\n');
  assert.throws(
    () => readConfig({ MUSTER_ZZZZZZZZZZZZZZZZ: 'x' }),
    ({ message }: Error) => {
      const names = message.match(/MUSTER_[A-Z_]+/g)?.filter((name) => !name.includes('ZZZ')) ?? [];
      assert.ok(names.length >= 6);
      for (const name of names) assert.ok(text.includes(`| \`${name}\` |`), name);
      return true;
    },
  );
});
