import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { startProgram } from './programs.ts';

/**
 * Starts pgbouncer in transaction mode in front of the test server, with two connections per database, so that
 * clients share them. Returns the URL of a database through it.
 */
export async function startPgbouncer(t: TestContext, settings: string): Promise<(url: string) => string> {
  const server = new URL(process.env.TEST_POSTGRES_URL ?? '');
  const port = await freePort();
  const folder = temporaryFolder(t);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
${settings}
`,
  );
  chmodSync(folder, 0o755);
  chmodSync(file, 0o644);
  // It does not run as root.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  await startProgram(t, ['pgbouncer', file], port, user);
  return (url) => Object.assign(new URL(url), { port: String(port) }).href;
}
