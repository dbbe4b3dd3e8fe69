import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { dependencies: runtime, optionalDependencies: platforms, files } = JSON.parse(read('package.json'));
const dependencies = Object.keys(runtime);

/** The packages that these files import at run time; type imports do not count. */
function findImports(pattern: string, isIncluded: (file: string) => boolean = () => true): string[] {
  const files = globSync(pattern, { cwd: root }).filter(isIncluded);
  assert.ok(files.length > 0, pattern);
  const names = files.flatMap((file) =>
    [
      ...read(file)
        .replace(/^(import|export) type [^;]*;/gm, '')
        .matchAll(imported),
    ].map(([, name = '']) => name),
  );
  return [...new Set(names.filter((name) => !isBuiltin(name)).map(packageOf))].sort();
}

/** Matches at the start of a line, so that examples in comments do not count. */
const imported =
  /^(?:import\b[^'"\n]*|\} from |[^*/\n]*\bimport\()["']((?:@[a-z0-9-]+\/)?[a-z0-9][a-z0-9./_-]*)["']/gm;

const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');

const isProduct = (file: string) => !file.endsWith('.test.ts');
const isListed = (licences: string, name: string) =>
  read(licences).includes(`\n${name} `) || read(licences).startsWith(`${name} `);

test('every package that the sources or the build import at run time is a dependency', () => {
  const missing = (names: string[]) => names.filter((name) => !dependencies.includes(name));
  assert.deepEqual(missing(findImports('src/**/*.ts', isProduct)), []);
  const external = findImports('dist/*.js');
  assert.ok(external.includes('better-sqlite3'));
  assert.deepEqual(missing(external), []);
});

test('the npm scripts have the same Node on every platform, without an install script', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const version = read('.node-version').trim();
  assert.ok(read('Dockerfile').startsWith(`FROM node:${version}-`, read('Dockerfile').indexOf('FROM ')));
  for (const [name, wanted] of Object.entries(platforms)) {
    const { bin, integrity, hasInstallScript, os, cpu } = packages[`node_modules/${name}`];
    assert.equal(wanted, version, name);
    assert.match(bin.node, /^bin\/node(\.exe)?$/);
    assert.match(integrity, /^sha512-/);
    assert.equal(hasInstallScript, undefined);
    if (os === process.platform && cpu === process.arch) assert.equal(process.version, `v${version}`);
  }
});

test('build-time packages are development dependencies of the console, which is not published', () => {
  assert.deepEqual(files, ['dist', 'docs', 'deploy', 'openapi.json']);
  const { dependencies: none, devDependencies } = JSON.parse(read('web/package.json'));
  assert.equal(none, undefined);
  const needed = [...findImports('web/*.ts'), ...findImports('web/src/**/*.{ts,tsx}')];
  assert.deepEqual(
    needed.filter((name) => !(name in devDependencies)),
    [],
  );
  assert.deepEqual(findImports('build.ts'), []);
});

test('the package contains the license of each bundled library', () => {
  const external = findImports('dist/*.js');
  const builtIn = findImports('src/**/*.ts', isProduct).filter((name) => !external.includes(name));
  for (const name of builtIn) assert.ok(isListed('dist/licences.txt', name), name);
  for (const name of findImports('web/src/**/*.{ts,tsx}')) {
    assert.ok(isListed('dist/web/licences.txt', name), name);
  }
});

test('npm ci does not warn of packages that run on the Node of this checkout', () => {
  const { packages } = JSON.parse(read('package-lock.json'));
  const warned = Object.keys(packages).filter((name) => 'engines' in packages[name]);
  assert.deepEqual(warned, [], 'Run `npm run lock`, which removes them.');
});

test('an older Node says which one is needed', () => {
  const older =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.6.0' } })";
  for (const file of ['dist/main.js', 'check-node.js']) {
    const args = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, join(root, file)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.match(stderr, /^Muster needs Node 24\.7 or newer, and this is 24\.6\.0\..*\n$/);
    assert.equal(status, 1);
  }
});
