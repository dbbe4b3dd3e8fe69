import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationNames } from '../../src/store/migrate.ts';

const root = join(import.meta.dirname, '../..');

/** The file of a released version: its database on an engine, its backup, or the hashes of its migrations. */
export const releasedFile = (version: string, suffix: string) =>
  join(import.meta.dirname, `${version}.${suffix}`);

/** The released versions, from the oldest to the newest. */
export const releasedVersions = globSync('*.json', { cwd: import.meta.dirname })
  .map((name) => name.slice(0, -'.json'.length))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));

/** The SHA-256 of each file of the migrations that a version adds. */
export function hashMigrations(version: string): Record<string, string> {
  const numbers = migrationNames
    .filter((name) => name.includes(`_${version}_`))
    .map((name) => name.slice(0, name.indexOf('_')));
  const files = numbers.flatMap((number) =>
    globSync(`src/store/migrations/${number}_*.ts`, { cwd: root }).sort(),
  );
  return Object.fromEntries(
    files.map((file) => [file, hash('sha256', readFileSync(join(root, file)), 'hex')]),
  );
}
