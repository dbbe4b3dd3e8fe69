import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { buildConsole, hashOf } from './web/build.ts';

const root = import.meta.dirname;
const target = join(root, 'dist');
const stamp = join(target, 'sources.txt');

/**
 * Builds the service into `dist`, unless what is there was made from the same sources. All that it uses is put into a
 * few files: most of the time of a start went into finding and loading fifteen hundred.
 */
export async function buildService(): Promise<void> {
  const sources = hashOf(['package-lock.json', 'build.ts', ...globSync('src/**/*.ts', { cwd: root }).sort()]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return;
  const { output } = await bundle();
  const chunks = output.filter((file) => file.type === 'chunk');
  const made = new Set(chunks.map(({ fileName }) => fileName));
  mkdirSync(target, { recursive: true });
  // Last those that load the others: who starts meanwhile finds the old ones or the new.
  for (const { fileName, code } of chunks.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry))) {
    writeFileSync(join(target, fileName), code);
  }
  writeFileSync(join(target, 'licences.txt'), licencesOf(chunks.flatMap(({ moduleIds }) => moduleIds)));
  for (const old of globSync('*.js', { cwd: target })) if (!made.has(old)) rmSync(join(target, old));
  writeFileSync(stamp, sources);
}

async function bundle(): Promise<Rolldown.RolldownOutput> {
  const { build } = await import('vite');
  const built = await build({
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
        input: { main: 'src/main.ts', 'sqlite-worker': 'src/database/sqlite-worker.ts' },
        // All in one folder: from there they find package.json and the console.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  return built as Rolldown.RolldownOutput;
}

/** The licences of what is built in and not ours. */
function licencesOf(modules: string[]): string {
  const folders = modules.flatMap(
    (module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
    return [
      `${name} ${version}: ${license}`,
      ...files.map((file) => readFileSync(join(folder, file), 'utf8')),
    ];
  });
  return texts.map((text) => text.join('\n\n')).join('\n\n-----\n\n');
}

if (import.meta.main) {
  await buildConsole();
  await buildService();
}
