import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { startProgram } from './programs.ts';

const example = join(import.meta.dirname, '../deploy/caddy/Caddyfile');

/** Starts Caddy with the example configuration in front of these instances, without TLS and base path. Returns its origin. */
export async function startCaddyExample(
  t: Pick<TestContext, 'after'>,
  instances: readonly string[],
): Promise<string> {
  const port = await freePort();
  const file = join(temporaryFolder(t), 'Caddyfile');
  const site = readFileSync(example, 'utf8')
    .replace('ops.example.com {', `http://127.0.0.1:${port} {`)
    .replace(/^\tredir .*\n/m, '')
    .replaceAll('/muster/', '/')
    .replace(
      'reverse_proxy 127.0.0.1:8080',
      `reverse_proxy ${instances.map((one) => new URL(one).host).join(' ')}`,
    );
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  await startProgram(t, ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'], port);
  return `http://127.0.0.1:${port}`;
}
