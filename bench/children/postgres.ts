import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../test/postgres.ts';

/** A PostgreSQL that runs until this process is told to stop. */
const folder = process.argv[2] ?? '';
mkdirSync(folder, { recursive: true });
// The server may run as another user, who must get to its data.
chmodSync(join(folder, '..'), 0o755);

// As it comes, writes on disk included, but for the number of connections of several services.
const { url, stop } = await startPostgres(folder, ['max_connections=200']);
console.log(`${url}/postgres`);

// Whoever started this keeps its standard input open, so that it stops even when they are killed. A signal stops it, too:
// the package sees to that.
process.stdin.resume().once('end', async () => {
  await stop();
  process.exit();
});
