import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startMuster, temporaryFolder } from './process.ts';

const main = join(import.meta.dirname, '../src/main.ts');

/** The code blocks of a guide in order: files, commands, and the output of the commands. */
const blocksOf = (guide: string) =>
  [
    ...readFileSync(join(import.meta.dirname, '..', guide), 'utf8').matchAll(
      /```(csv|sh|text) ?(\S*)\n([\s\S]*?)```/g,
    ),
  ].map(([, kind = '', name = '', content = '']) => ({ kind, name, content }));

for (const [guide, minCommands] of [
  ['docs/roster.md', 12],
  ['docs/import.md', 7],
] as const) {
  test(`${guide}: every command prints the documented output`, (t) => runGuide(t, guide, minCommands));
}

async function runGuide(t: TestContext, guide: string, minCommands: number): Promise<void> {
  const folder = temporaryFolder(t);
  const { origin, key = '' } = await startMuster(t, folder);
  let printed: string[] = [];
  let commands = 0;
  for (const { kind, name, content } of blocksOf(guide)) {
    if (kind === 'csv') writeFileSync(join(folder, name), content);
    if (kind === 'sh' && !content.startsWith('alias')) {
      printed = (await run(folder, content, { API: `${origin}/v1`, KEY: key })).trimEnd().split('\n');
      commands += content.trim().split('\n').length;
    }
    if (kind === 'text') {
      const expected = content.trimEnd().split('\n');
      assert.equal(printed.length, expected.length, printed.join('\n'));
      for (const [i, line] of expected.entries()) assert.match(printed[i] ?? '', toPattern(line));
    }
  }
  assert.ok(commands >= minCommands);
}

/** `…` matches any text. */
const toPattern = (line: string) =>
  new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`);

async function run(folder: string, commands: string, environment: Record<string, string>): Promise<string> {
  const script = `muster() { "$NODE" "$MAIN" "$@"; }\n{ ${commands.trimEnd()}\n} 2>&1`;
  const env = { PATH: process.env.PATH, NODE: process.execPath, MAIN: main, ...environment };
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env }).catch(
    (error) => error,
  );
  return stdout;
}
