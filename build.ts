import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole, hashOf } from './web/build.ts';
import { bundle } from './web/bundle.ts';

const root = import.meta.dirname;
const target = join(root, 'dist');
const stamp = join(target, 'sources.txt');

/**
 * Builds the service into `dist`, unless what is there was made from the same sources. All that it uses is put into a
 * few files: most of the time of a start went into finding and loading fifteen hundred.
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
  const made = new Set(chunks.map(({ fileName }) => fileName));
  mkdirSync(target, { recursive: true });
  // Last those that load the others: who starts meanwhile finds the old ones or the new.
  for (const { fileName, code } of chunks.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
    writeFileSync(join(target, fileName), code);
  }
  writeFileSync(join(target, 'licences.txt'), licences);
  for (const old of globSync('*.js', { cwd: target })) if (!made.has(old)) rmSync(join(target, old));
  writeFileSync(stamp, sources);
}

const bundleService = () =>
  bundle({
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    // The one is machine code, the other is not installed: it would be used if it were.
    ssr: { noExternal: true, external: ['better-sqlite3', 'pg-native'] },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      rolldownOptions: {
        input: { main: 'src/main.ts', worker: 'src/database/sqlite/worker.ts' },
        // All in one folder: from there they find package.json and the console.
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
