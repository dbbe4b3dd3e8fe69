import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './folders.ts';

/**
 * Checks openapi.json with Redocly and Spectral. Installs them into a temporary folder, because Spectral finds the OWASP
 * rules only beside its own configuration, and nothing else needs these packages.
 */
const tools = {
  '@redocly/cli': '2.73.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@stoplight/spectral-owasp-ruleset': '2.0.1',
};

const folder = makeFolder();
for (const file of ['openapi.json', '.spectral.yaml'])
  copyFileSync(join(import.meta.dirname, '..', file), join(folder, file));
writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, devDependencies: tools }));

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: folder, stdio: 'inherit' });
try {
  run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error');
  run('npx', 'redocly', 'lint', 'openapi.json');
  run('npx', 'spectral', 'lint', 'openapi.json', '--fail-severity', 'hint');
} catch {
  // The tools have printed what is wrong.
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
