import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole, hashOf } from './web/build.ts';
import { bundle } from './web/bundle.ts';

const root = import.meta.dirname;
const target = join(root, 'dist');
const stamp = join(target, 'sources.txt');

/**
 * Builds the service into `dist`, unless `dist` was built from the same sources. Dependencies are bundled into a few
 * files, because loading 1,500 separate files took most of the startup time.
 */
export async function buildService(): Promise<void> {
  const sources = hashOf([
    'package-lock.json',
    'build.ts',
    'web/bundle.ts',
    ...globSync('{src,demo}/**/*.ts', { cwd: root }).sort(),
  ]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return;
  const { chunks, licences } = await bundleService();
  const written = new Set(chunks.map(({ fileName }) => fileName));
  mkdirSync(target, { recursive: true });
  // Entry files are written last: a process that starts during the build loads the old chunks or the new ones.
  for (const { fileName, code } of chunks.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
    writeFileSync(join(target, fileName), inAscii(code));
  }
  writeFileSync(join(target, 'licences.txt'), licences);
  for (const old of globSync('*.js', { cwd: target })) if (!written.has(old)) rmSync(join(target, old));
  writeFileSync(stamp, sources);
}

/** The engine keeps the sources in memory, with two bytes for each character if a single one is not in Latin-1. */
const inAscii = (code: string) =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const bundleService = () =>
  bundle({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    // better-sqlite3 is a native addon. pg-native is optional and not installed.
    ssr: { noExternal: true, external: ['better-sqlite3', 'pg-native'] },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      // In kB. A service is not downloaded by browsers, so its size is no reason for a warning.
      chunkSizeWarningLimit: 10_000,
      rolldownOptions: {
        input: { main: 'src/main.ts', worker: 'src/database/sqlite/worker.ts' },
        // A flat folder, so that every file finds package.json and the console at the same relative path.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });

if (import.meta.main) {
  try {
    await buildConsole();
    await buildService();
  } catch (error) {
    console.error(error instanceof Error && 'cause' in error ? error.message : error);
    process.exitCode = 1;
  }
}
