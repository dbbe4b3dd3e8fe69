import { hash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { writeApiTypes } from './api-types.ts';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'dist/web');
const stamp = join(target, 'sources.txt');

/** Builds the console into `dist/web` if its sources have changed. */
export async function buildConsole(): Promise<void> {
  const sources = hashOfSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return;
  writeApiTypes();
  // A running service can be reading the target, so a finished build replaces it.
  const outDir = `${target}-${process.pid}`;
  mkdirSync(outDir, { recursive: true });
  try {
    const configFile = join(root, 'web/vite.config.ts');
    const { licences } = await bundle({ configFile, logLevel: 'warn', build: { outDir } });
    writeFileSync(join(outDir, 'licences.txt'), licences);
    const names = readdirSync(join(outDir, 'assets'));
    // Fonts are compressed already.
    for (const name of names.filter((name) => !name.endsWith('.woff2')))
      compress(join(outDir, 'assets', name));
    writeFileSync(join(outDir, 'sources.txt'), sources);
    rmSync(target, { recursive: true, force: true });
    renameSync(outDir, target);
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const files = [
    'package-lock.json',
    'openapi.json',
    'src/core/time-zones.ts',
    ...globSync('web/**/*.{ts,tsx,css,html,svg}', { cwd: root }),
  ]
    .filter((file) => file !== 'web/src/api/openapi.ts' && !file.startsWith('web/tests/'))
    .sort();
  return hashOf(files);
}

export const hashOf = (files: string[]) =>
  hash('sha256', files.map((file) => `${file}\n${readFileSync(join(root, file), 'utf8')}`).join('\n'));

function compress(file: string): void {
  const content = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(content));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}

if (import.meta.main) await buildConsole();
