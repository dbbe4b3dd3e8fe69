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
 * Runs the tests, or the script named after `--script`, beside one PostgreSQL; each test copies a database of its own
 * in it. They are a process apart, because the package that holds the server ends its own process with 0, whatever
 * happened in it.
 */
const folder = mkdtempSync(join(parentFolder(), 'muster-tests-'));
// The server may run as another user, who must get to its data.
chmodSync(folder, 0o755);

await buildConsole();
await buildService();
// Test data need not survive a power failure.
const server = await startPostgres(folder, ['fsync=off', 'full_page_writes=off', 'max_connections=300']);

const templates = await createTemplates(server.url, folder);

const skipped = join(folder, 'skipped.jsonl');
const reporters = [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(import.meta.dirname, 'skipped.ts')}`,
  `--test-reporter-destination=${skipped}`,
];
const wanted = process.argv.slice(2);
const all = ['{src,demo,test}/**/*.test.ts', 'bench/**/*.test.ts', 'web/tests/*.test.ts'];
const tests = wanted.length > 0 ? wanted : all;
const isScript = wanted[0] === '--script';
const running = spawn(
  process.execPath,
  isScript ? wanted.slice(1) : ['--test', '--test-concurrency=2', ...reporters, ...tests],
  {
    stdio: 'inherit',
    // Each test file is a process that loads the same modules: compiled once, they load in half the time.
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...templates },
  },
);
const code = await new Promise<number>((resolve) => running.on('close', (status) => resolve(status ?? 1)));
const summary = isScript ? '' : summarizeSkipped(readFileSync(skipped, 'utf8'));
if (summary !== '') console.log(summary);

await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);
