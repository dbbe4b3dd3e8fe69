import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { InlineConfig, Rolldown } from 'vite';

/** Builds with Vite. Returns the chunks and the licenses of the packages in them and in the assets. */
export async function bundle(config: InlineConfig) {
  const { build } = await loadVite();
  const { output } = (await build(config)) as Rolldown.RolldownOutput;
  const chunks = output.filter((file) => file.type === 'chunk');
  const assets = output.filter((file) => file.type === 'asset');
  const files = assets.flatMap(({ originalFileNames }) =>
    originalFileNames.map((name) => resolve(import.meta.dirname, name)),
  );
  return { chunks, licences: licencesOf([...chunks.flatMap(({ moduleIds }) => moduleIds), ...files]) };
}

/** Loads Vite only to build: a built package runs without it. */
async function loadVite() {
  try {
    return await import('vite');
  } catch (cause) {
    throw new Error('The build needs packages that are not installed. Run `npm ci --include=dev` first.', {
      cause,
    });
  }
}

/** Joins the license texts of the packages that the modules belong to. */
function licencesOf(modules: string[]): string {
  const folders = modules.flatMap(
    (module) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|notice)/i.test(file))
      .flatMap((file) => filesIn(join(folder, file)));
    return [`${name} ${version}: ${license}`, ...files.map((file) => readFileSync(file, 'utf8'))];
  });
  return texts.map((text) => text.join('\n\n')).join('\n\n-----\n\n');
}

/** The file itself, or the files in a folder: some packages have a folder of licenses. */
const filesIn = (path: string) =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
