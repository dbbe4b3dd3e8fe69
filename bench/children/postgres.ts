import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres.ts';

/** Runs a PostgreSQL server until this process is stopped. */
const folder = process.argv[2] ?? '';
mkdirSync(folder, { recursive: true });
// The server may run as another user, which needs access to its data. Others may use the parent too, so nothing is taken away.
const parent = join(folder, '..');
chmodSync(parent, (statSync(parent).mode & 0o7777) | 0o055);

// Default settings, durable writes included, with enough connections for several services.
const { url, stop } = await startPostgres(folder, ['max_connections=200']);
console.log(`${url}/postgres`);

// The parent keeps standard input open, so this process stops even if the parent is killed.
process.stdin.resume().once('end', async () => {
  await stop();
  process.exit();
});
