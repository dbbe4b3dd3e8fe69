import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { waitUntilReady, watchOutput } from './process.ts';

/**
 * Starts each artefact in `release/` in an empty folder with an empty environment, and calls the five endpoints of the
 * service and the console. As root, it also starts the archive in a root folder that has only the C library.
 */
const release = join(import.meta.dirname, '../release');
const folder = mkdtempSync(join(tmpdir(), 'muster-smoke-'));
try {
  verifyChecksums();
  await testArchive();
  await testPackage();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function verifyChecksums(): void {
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], {
    cwd: release,
    stdio: 'inherit',
  });
  const [sbom = ''] = globSync('*.cdx.json', { cwd: release });
  const { bomFormat, components } = JSON.parse(readFileSync(join(release, sbom), 'utf8'));
  assert.equal(bomFormat, 'CycloneDX');
  assert.ok(components.some(({ name }: { name: string }) => name === 'fastify'));
  console.log('✔ checksums and software bill of materials');
}

async function testArchive(): Promise<void> {
  const [archive = ''] = globSync(`*-${process.platform}-${process.arch}.tar.gz`, { cwd: release });
  const unpacked = join(folder, 'archive');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', join(release, archive), '-C', unpacked, '--strip-components=1']);
  assert.ok(existsSync(join(unpacked, 'deploy/systemd/muster.service')));
  await check(`${archive}, with an empty environment`, unpacked, ['./muster', 'serve']);
  if (process.getuid?.() !== 0 || process.platform !== 'linux') {
    console.log(`- ${archive}, in an empty root folder: skipped, needs root on Linux`);
    return;
  }
  const root = join(folder, 'root');
  cpSync(unpacked, join(root, 'muster'), { recursive: true });
  // The C library, and nothing else: no shell, no /proc, no /tmp.
  const env = { LD_LIBRARY_PATH: join(unpacked, 'lib') };
  const libraries = execFileSync('ldd', [join(unpacked, 'bin/node')], { env, encoding: 'utf8' });
  for (const [, library = ''] of libraries.matchAll(/(\/\S+) \(0x/g)) {
    if (library.startsWith(unpacked)) continue;
    assert.match(library, /\/(ld-linux[^/]*|lib(c|m|dl|pthread|rt))\.so/, 'the archive lacks a library');
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  const command = ['/usr/sbin/chroot', root, '/muster/bin/node', '/muster/dist/main.js', 'serve'];
  await check(`${archive}, in an empty root folder`, root, command, { LD_LIBRARY_PATH: '/muster/lib' });
}

async function testPackage(): Promise<void> {
  const [archive = ''] = globSync('muster-ops-*.tgz', { cwd: release });
  const installed = join(folder, 'installed');
  mkdirSync(installed);
  writeFileSync(join(installed, 'package.json'), '{ "private": true }');
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', join(release, archive), ...options], {
    cwd: installed,
    stdio: ['ignore', 2, 2],
  });
  for (const name of ['vite', 'react', 'typescript', 'fastify'])
    assert.ok(!existsSync(join(installed, 'node_modules', name)), `${name} is not needed at run time`);
  assert.ok(existsSync(join(installed, 'node_modules/muster-ops/deploy/systemd/muster.service')));
  const command = join(installed, 'node_modules/.bin/muster-ops');
  await check(archive, installed, [command, 'serve'], { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` });
}

/** Starts the service with a new database, and stops it after the requests. */
async function check(name: string, cwd: string, command: string[], environment = {}): Promise<void> {
  const startedAt = performance.now();
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { MUSTER_PORT: '0', MUSTER_DATABASE_URL: 'sqlite:smoke/muster.db', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const running = watchOutput(child);
  try {
    const { origin, key = '' } = await waitUntilReady(running);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    await callEndpoints(origin, key);
    console.log(`✔ ${name}: ready after ${seconds} s`);
  } finally {
    child.kill('SIGTERM');
    await running.exit;
  }
  assert.equal(child.exitCode, 0, name);
}

async function callEndpoints(origin: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Ada Lovelace' });
  assert.equal((await fetch(`${origin}/v1/personnel`, { method: 'POST', headers, body })).status, 201);
  for (const path of ['personnel', 'groups', 'risks', 'issues']) {
    const response = await fetch(`${origin}/v1/${path}`, { headers });
    assert.equal(response.status, 200, path);
    assert.equal((await response.json()).data.length, path === 'personnel' ? 1 : 0, path);
  }
  const page = await fetch(origin);
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
  assert.equal(page.status, 200);
  assert.equal((await fetch(new URL(script, origin))).status, 200, 'the script of the console');
  assert.equal((await fetch(`${origin}/readyz`)).status, 200);
}
