import { spawn } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { createTemplates } from './databases.ts';
import { parentFolder } from './folders.ts';
import { bundlePackages } from './packages.ts';
import { startPostgres } from './postgres.ts';

/** A test that waits for what never happens fails after this time, instead of keeping the run from ending. */
const maxTestMs = 600_000;

/**
 * Starts PostgreSQL, then runs tests: the given files, those of `npm run test:long` with `--long`, by default all others.
 * With `--script` it runs a script instead. Each test copies a template database.
 */
await buildConsole();
await buildService();
const folder = mkdtempSync(join(parentFolder(), 'muster-tests-'));
// The server may run as another user, which needs access to its data.
chmodSync(folder, 0o755);
// Test data need not be durable.
const server = await startPostgres(folder, ['fsync=off', 'full_page_writes=off', 'max_connections=300']);
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
const templates = await createTemplates(server.url, folder);

const args = process.argv.slice(2);
process.exitCode = args[0] === '--script' ? await runNode(args.slice(1)) : await runTests();
await server.stop();

/** Runs two files at a time, and says at the end what it did not run. */
async function runTests(): Promise<number> {
  const all = globSync(['{src,demo,test,bench}/**/*.test.ts', 'web/tests/*.test.ts']).sort();
  const long = all.filter((file) => file.endsWith('.long.test.ts'));
  const isAll = args.length === 0;
  const tests = isAll ? all.filter((file) => !long.includes(file)) : args[0] === '--long' ? long : args;
  const summary = join(import.meta.dirname, 'summary.ts');
  const reporters = ['spec', summary].flatMap((reporter) => [
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
  ]);
  const limits = [`--test-timeout=${maxTestMs}`, `--import=${join(import.meta.dirname, 'time-limit.ts')}`];
  const packages = `--import=${await bundlePackages(folder)}`;
  const status = await runNode([
    '--test',
    '--test-concurrency=2',
    packages,
    ...limits,
    ...reporters,
    ...tests,
  ]);
  if (isAll) console.log(`Left to npm run test:long: ${long.join(', ')}`);
  return status;
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
