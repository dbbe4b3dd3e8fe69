import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const files = globSync('{src,demo}/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
const source = (file: string) => readFileSync(join(root, file), 'utf8');

/** The project files that a file imports. Type imports count, because they also couple files. */
const findImports = (file: string) =>
  [...source(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  );

/** In order: a file imports only from its own layer or an earlier one. */
const layers = [
  /^src\/core\//,
  /^src\/config(-database)?\.ts$/,
  /^src\/database\//,
  /^src\/resources\/descriptor\.ts$/,
  /^src\/resources\/([a-z-]+\/schema|descriptors)\.ts$/,
  /^src\/store\//,
  /^src\/formats\//,
  /^src\/http\//,
  /^src\/lists\//,
  /^src\/import\//,
  /^src\/resources\//,
  /^src\/jobs\//,
  /^src\/pages\//,
  /^src\/app\.ts$/,
  /^demo\//,
  /^src\/commands\//,
  /^src\/main\.ts$/,
];
const layerOf = (file: string) => layers.findIndex((layer) => layer.test(file));

test('every file has a layer and imports only from its own or an earlier one', () => {
  for (const file of files) {
    assert.notEqual(layerOf(file), -1, `${file} is in no layer`);
    for (const imported of findImports(file)) {
      assert.ok(
        layerOf(imported) <= layerOf(file),
        `${file} must not import ${imported}, which is in a later layer`,
      );
    }
  }
});

test('only the app imports a file of routes', () => {
  for (const file of files.filter((file) => file !== 'src/app.ts')) {
    const routes = findImports(file).filter((path) => path.endsWith('/routes.ts'));
    assert.deepEqual(routes, [], file);
  }
});

test('imports form no cycle', () => {
  const graph = new Map(files.map((file) => [file, findImports(file)]));
  const done = new Set<string>();
  const walk = (file: string, path: string[]) => {
    assert.ok(!path.includes(file), `cycle: ${[...path, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test('a folder has at most twelve source files (migrations more), and a file at most 400 lines', () => {
  const folders = Map.groupBy(
    files.filter((file) => file.startsWith('src/')),
    (file) => dirname(file),
  );
  for (const [folder, inFolder] of folders) {
    const max = folder === 'src/store/migrations' ? 20 : 12;
    assert.ok(inFolder.length <= max, `${folder} has ${inFolder.length} files`);
    for (const file of inFolder) {
      const lines = source(file).split('\n').length - 1;
      assert.ok(lines <= 400, `${file} has ${lines} lines`);
    }
  }
});

test('migrations import only other migrations, because their behavior must never change', () => {
  for (const file of files.filter((file) => file.startsWith('src/store/migrations/'))) {
    const foreign = findImports(file).filter((path) => !path.startsWith('src/store/migrations/'));
    assert.deepEqual(foreign, [], file);
  }
});

test('an engine is named only in the database folder, the migrations and the settings', () => {
  for (const file of files.filter((file) =>
    /^src\/(?!database\/|store\/migrat|config(-database)?\.ts)/.test(file),
  )) {
    const code = source(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    assert.ok(!/sqlite|postgres|\bpg\b/i.test(code), file);
  }
});

test('only authentication and signing in read and write rows outside of the project scope of a key', () => {
  const unscoped =
    /\b(app|server)\.database\b(?!\.(versions|pools|explain|bulkBatchMs|checkReady|checkWritable|storage)\b)/;
  const requestHandling = /^src\/(http(?!\/auth)|lists|import|resources|pages)\//;
  const signsIn = /^src\/resources\/(sessions?|invitations|passkeys|passwords|me\/(sign-in|keys)\.ts)/;
  for (const file of files.filter((file) => requestHandling.test(file) && !signsIn.test(file))) {
    assert.doesNotMatch(source(file), unscoped, file);
  }
  for (const file of files.filter((file) => !/^src\/(database|store)\//.test(file))) {
    assert.doesNotMatch(source(file), /withoutPlugins|executeQuery|CompiledQuery|storedTable/, file);
  }
});

test('no file is named index, utils, helpers or types, and only main reads the environment', () => {
  for (const file of files) {
    assert.doesNotMatch(file, /(^|\/)(index|utils|helpers|types)\.ts$/);
    if (file !== 'src/main.ts') assert.doesNotMatch(source(file), /process\.env/, file);
  }
});

test('few folders of resources import from each other in both directions', () => {
  const folderOf = (file: string) => /^src\/resources\/([a-z-]+)\//.exec(file)?.[1];
  const arrows = new Set<string>();
  for (const file of files) {
    for (const imported of findImports(file)) {
      const [from, to] = [folderOf(file), folderOf(imported)];
      if (from && to && from !== to && !imported.endsWith('/schema.ts')) arrows.add(`${from} → ${to}`);
    }
  }
  const mutual = [...arrows].filter((arrow) => arrows.has(arrow.split(' → ').reverse().join(' → ')));
  assert.deepEqual(mutual.sort(), [
    // People are members of groups, and a group lists its members as people.
    'groups → personnel',
    'personnel → groups',
    // Unarchiving a project reopens its risks, and its health follows from them.
    'projects → risks',
    'risks → projects',
  ]);
});
