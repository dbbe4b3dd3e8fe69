import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { killGroup, waitUntilReady, watchOutput } from './process.ts';

/**
 * Installs the service without development dependencies, in a built checkout and from the packed archive, and checks
 * that it starts and serves the console. Takes minutes, and needs the npm registry or a filled npm cache.
 */
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'muster-package-'));
try {
  const checkout = copySources();
  const production = { NODE_ENV: 'production' };
  npm(checkout, ['ci'], production);
  checkNoBuildTools(checkout);
  const { status, stderr } = spawnSync('npm', ['start'], {
    cwd: checkout,
    env: userEnvironment(production),
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, /Run `npm ci --include=dev` first/);
  console.log('✔ NODE_ENV=production npm ci && npm start asks for what the build needs');

  npm(checkout, ['ci', '--include=dev'], production);
  npm(checkout, ['run', 'build']);
  npm(checkout, ['ci', '--omit=dev']);
  checkNoBuildTools(checkout);
  await check('npm ci --omit=dev && npm start, once it is built', checkout, ['npm', 'start']);

  npm(checkout, ['pack', '--pack-destination', folder]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const installed = join(folder, 'installed');
  mkdirSync(installed);
  writeFileSync(join(installed, 'package.json'), '{ "private": true }');
  npm(installed, ['install', '--omit=dev', join(folder, `muster-${version}.tgz`)]);
  checkNoBuildTools(installed);
  for (const name of ['licences.txt', 'web/licences.txt'])
    assert.ok(existsSync(join(installed, 'node_modules/muster/dist', name)), name);
  await check('npm install muster && npx muster serve', installed, ['npx', '--no', 'muster', 'serve']);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function checkNoBuildTools(installed: string): void {
  for (const name of ['vite', 'react', 'typescript'])
    assert.ok(!existsSync(join(installed, 'node_modules', name)), `${name} is only needed to build`);
}

/** Copies the files of a clone, including uncommitted changes. */
function copySources(): string {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0');
  const target = join(folder, 'checkout');
  for (const file of files.filter((file) => file !== '' && existsSync(join(root, file)))) {
    cpSync(join(root, file), join(target, file));
  }
  return target;
}

function npm(cwd: string, args: string[], environment = {}): void {
  const options = [...args, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', options, { cwd, env: userEnvironment(environment), stdio: ['ignore', 2, 2] });
}

/** Starts the service in a folder, and checks `/livez` and the console. */
async function check(name: string, cwd: string, [program = '', ...args]: string[]): Promise<void> {
  const settings = { MUSTER_PORT: '0', MUSTER_DATABASE_URL: `sqlite:${join(cwd, 'check.db')}` };
  const child = spawn(program, args, {
    cwd,
    env: userEnvironment(settings),
    stdio: ['ignore', 'pipe', 'inherit'],
    // A separate process group, so that the signal reaches both npm and the service.
    detached: true,
  });
  const running = watchOutput(child);
  try {
    const { origin } = await waitUntilReady(running);
    assert.equal((await fetch(`${origin}/livez`)).status, 200);
    const page = await fetch(origin);
    const html = await page.text();
    const [, script] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
    assert.ok(page.status === 200 && script, html);
    assert.equal((await fetch(new URL(script, origin))).status, 200);
    console.log(`✔ ${name}`);
  } finally {
    killGroup(child, 'SIGTERM');
    await running.exit;
  }
}

/** The environment without the variables that npm sets for this script, and without this package's Node in PATH. */
function userEnvironment(more: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|MUSTER_|NODE_)/.test(name));
  const paths = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => !path.endsWith('node_modules/.bin'));
  return { ...Object.fromEntries(inherited), PATH: paths.join(delimiter), ...more };
}
