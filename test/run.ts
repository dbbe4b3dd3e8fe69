import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { startPostgres } from './postgres.ts';

/**
 * Runs the tests, or the script named after `--script`, beside one PostgreSQL; each test makes a database of its own
 * in it. They are a process apart, because the package that holds the server ends its own process with 0, whatever
 * happened in it.
 */
const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'));
// The server may run as another user, who must get to its data.
chmodSync(folder, 0o755);

await buildConsole();
await buildService();
// Test data need not survive a power failure.
const server = await startPostgres(folder, ['fsync=off', 'full_page_writes=off', 'max_connections=300']);

const wanted = process.argv.slice(2);
const all = ['{src,demo,test}/**/*.test.ts', 'bench/**/*.test.ts', 'web/tests/*.test.ts'];
const tests = wanted.length > 0 ? wanted : all;
const isScript = wanted[0] === '--script';
const running = spawn(
  process.execPath,
  isScript ? wanted.slice(1) : ['--test', '--test-concurrency=2', ...tests],
  {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_URL: server.url },
  },
);
const code = await new Promise<number>((resolve) => running.on('close', (status) => resolve(status ?? 1)));

await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);
