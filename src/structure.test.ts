import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const root = import.meta.dirname;
const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
const source = (file: string) => readFileSync(join(root, file), 'utf8');

/** What a file imports from this project, as paths below `src`. Types count, too: they tie files together as well. */
const importsOf = (file: string) =>
  [...source(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
  );

/** One way: a file imports only from its own layer or from one before it. */
const layers = [
  /^(accept|addresses|errors|ids|clock|text|schemas|version|config)\.ts$/,
  /^files\//,
  /^[a-z]+\/(schema|scoring|ranking|scopes|secret|parameters|check-names|transitions|change)\.ts$/,
  /^database\//,
  /^(lists\/(?!answer)|groups\/membership)/,
  /^([a-z]+\/queries|history\/making|projects\/(counts|health)|risks\/(checks|register|summaries|model)|issues\/summaries|keys\/(usage|ring)|personnel\/(assignments|handover))\.ts$/,
  /^(http\/|lists\/answer|imports\/|pages\/(?!routes))/,
  /^[a-z]+\/import\.ts$/,
  /^project-items\//,
  /^[a-z]+\/routes\.ts$/,
  /^app\.ts$/,
  /^(demo|commands)\//,
  /^main\.ts$/,
];
const layerOf = (file: string) => layers.findIndex((layer) => layer.test(file));

test('every file has its layer, and imports only from its own or those before it', () => {
  for (const file of files.filter((file) => !file.startsWith('testing/'))) {
    assert.notEqual(layerOf(file), -1, `${file} is in no layer`);
    for (const imported of importsOf(file)) {
      const allowed = layerOf(imported) <= layerOf(file);
      assert.ok(allowed, `${file} must not import ${imported}, which is in a later layer`);
    }
  }
});

test('a noun never imports another noun’s routes', () => {
  for (const file of files) {
    const foreign = importsOf(file).filter((path) => /^[a-z]+\/routes\.ts$/.test(path) && file !== 'app.ts');
    assert.deepEqual(foreign, [], file);
  }
});

test('migrations import nothing but other migrations, because what they do must never change', () => {
  for (const file of files.filter((file) => file.startsWith('database/migrations/'))) {
    const others = importsOf(file).filter((path) => !path.startsWith('database/migrations/'));
    assert.deepEqual(others, [], file);
  }
});

test('there are no circles', () => {
  const graph = new Map(files.map((file) => [file, importsOf(file)]));
  const done = new Set<string>();
  const walk = (file: string, path: string[]) => {
    assert.ok(!path.includes(file), `circle: ${[...path, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test('an engine is named only in the database folder, the settings, the demo and the tests', () => {
  for (const file of files.filter(
    (file) => !/^(database|testing|demo|commands\/demo)/.test(file) && file !== 'config.ts',
  )) {
    const code = source(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    assert.ok(!/sqlite|postgres|\bpg\b/i.test(code), file);
  }
});

test('what answers requests reaches the database only as the key of the request sees it', () => {
  const unlimited = /^http\/(access|door|health|metric-registry|problems)\.ts$/;
  for (const file of files.filter((file) => /^(http|lists|pages)\/|\/routes\.ts$/.test(file))) {
    if (!unlimited.test(file)) assert.doesNotMatch(source(file), /\b(app|server)\.database\b/, file);
  }
  for (const file of files.filter((file) => !/^(database|testing)\//.test(file))) {
    assert.doesNotMatch(source(file), /withoutPlugins|executeQuery|CompiledQuery|storedTable/, file);
  }
});

test('there is no index.ts, no utils, and nothing reads the environment but main', () => {
  for (const file of files) {
    assert.doesNotMatch(file, /(^|\/)(index|utils|helpers|types)\.ts$/);
    if (!/^(main\.ts|testing\/)/.test(file)) assert.doesNotMatch(source(file), /process\.env/, file);
  }
});
