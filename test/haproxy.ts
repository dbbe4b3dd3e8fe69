import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { startProgram } from './programs.ts';

const example = join(import.meta.dirname, '../deploy/haproxy/haproxy.cfg');

/** Starts HAProxy with the example configuration in front of these instances. Returns its origin. */
export async function startHaproxy(
  t: Pick<TestContext, 'after'>,
  instances: readonly string[],
  timeout = '60s',
): Promise<string> {
  const port = await freePort();
  const servers = instances.map((origin, i) => `  server muster${i + 1} ${new URL(origin).host}`);
  const [before, after] = readFileSync(example, 'utf8')
    .replace(/bind .*/, `bind 127.0.0.1:${port}`)
    .replace('timeout server 60s', `timeout server ${timeout}`)
    .split(/(?:^ {2}server .*\n)+/m);
  await startConfigured(t, port, [before, ...servers, after].join('\n'));
  return `http://127.0.0.1:${port}`;
}

/** Starts HAProxy in front of a primary and a standby, which it uses only while the primary is down. Returns its port. */
export async function startDatabaseProxy(
  t: Pick<TestContext, 'after'>,
  primaryPort: number,
  standbyPort: number,
): Promise<number> {
  const port = await freePort();
  await startConfigured(
    t,
    port,
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen postgres
  bind 127.0.0.1:${port}
  default-server check inter 200ms fall 2 on-marked-down shutdown-sessions
  server primary 127.0.0.1:${primaryPort}
  server standby 127.0.0.1:${standbyPort} backup
`,
  );
  return port;
}

/** Starts HAProxy with a configuration that binds this port. */
export async function startConfigured(
  t: Pick<TestContext, 'after'>,
  port: number,
  configuration: string,
): Promise<void> {
  const file = join(temporaryFolder(t), 'haproxy.cfg');
  writeFileSync(file, configuration);
  await startProgram(t, ['haproxy', '-db', '-f', file], port);
}
