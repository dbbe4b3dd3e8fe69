import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dependenciesOf = (file: string) => Object.keys(JSON.parse(read(file)).dependencies);

/** The packages that these files import when they run; types do not count. */
function importsOf(pattern: string, isWanted: (file: string) => boolean = () => true): string[] {
  const files = globSync(pattern, { cwd: root }).filter(isWanted);
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

/** At the start of a line, so that examples in comments do not count. */
const imported =
  /^(?:import\b[^'"\n]*|\} from |[^*/\n]*\bimport\()["']((?:@[a-z0-9-]+\/)?[a-z0-9][a-z0-9./_-]*)["']/gm;

const packageOf = (name: string) => name.split('/', name.startsWith('@') ? 2 : 1).join('/');

const isProduct = (file: string) => !/\.test\.ts$|^src\/testing\//.test(file);
const isListed = (licences: string, name: string) =>
  read(licences).includes(`\n${name} `) || read(licences).startsWith(`${name} `);

test('what running needs is a dependency, of the sources and of the built package', () => {
  const dependencies = dependenciesOf('package.json');
  const missing = (names: string[]) => names.filter((name) => !dependencies.includes(name));
  assert.deepEqual(missing(importsOf('src/**/*.ts', isProduct)), []);
  const external = importsOf('dist/*.js');
  assert.ok(external.includes('better-sqlite3'));
  assert.deepEqual(missing(external), []);
  // The scripts run on it, also where development dependencies are left out.
  assert.ok(dependencies.includes('node'));
});

test('what building needs is a dependency of the console, which is no part of the package', () => {
  const { files } = JSON.parse(read('package.json'));
  assert.deepEqual(files, ['dist', 'docs', 'openapi.json']);
  const dependencies = dependenciesOf('web/package.json');
  const needed = [...importsOf('web/*.ts'), ...importsOf('web/src/**/*.{ts,tsx}')];
  assert.deepEqual(
    needed.filter((name) => !dependencies.includes(name)),
    [],
  );
  assert.deepEqual(importsOf('build.ts'), []);
});

test('the package contains the licence of each library that is built in', () => {
  const external = importsOf('dist/*.js');
  const builtIn = importsOf('src/**/*.ts', isProduct).filter((name) => !external.includes(name));
  for (const name of builtIn) assert.ok(isListed('dist/licences.txt', name), name);
  for (const name of importsOf('web/src/**/*.{ts,tsx}')) {
    assert.ok(isListed('dist/web/licences.txt', name), name);
  }
});
