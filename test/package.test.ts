import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dependenciesOf = (file: string) => Object.keys(JSON.parse(read(file)).dependencies);

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
  const dependencies = dependenciesOf('package.json');
  const missing = (names: string[]) => names.filter((name) => !dependencies.includes(name));
  assert.deepEqual(missing(findImports('src/**/*.ts', isProduct)), []);
  const external = findImports('dist/*.js');
  assert.ok(external.includes('better-sqlite3'));
  assert.deepEqual(missing(external), []);
  // The npm scripts need it, also without development dependencies.
  assert.ok(dependencies.includes('node'));
});

test('build-time packages are dependencies of the console, which is not published', () => {
  const { files } = JSON.parse(read('package.json'));
  assert.deepEqual(files, ['dist', 'docs', 'openapi.json']);
  const dependencies = dependenciesOf('web/package.json');
  const needed = [...findImports('web/*.ts'), ...findImports('web/src/**/*.{ts,tsx}')];
  assert.deepEqual(
    needed.filter((name) => !dependencies.includes(name)),
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
