import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from './process.ts';
import { startTestService } from './service.ts';

const guide = readFileSync(new URL('../docs/events.md', import.meta.url), 'utf8');
const isInstalled = (command: string) => spawnSync(command, ['--version']).status === 0;

/** Runs a program of the guide in a folder. `printed` resolves when its output contains the text. */
function run(t: TestContext, folder: string, name: string, command: string, env: Record<string, string>) {
  const [, code = ''] = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? [];
  assert.ok(code.split('\n').length <= 21, `${name} is in the guide and has at most 20 lines`);
  writeFileSync(join(folder, name), code);
  const child = spawn(command, [name], { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const waiting: (() => void)[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      for (const check of waiting) check();
    });
  }
  return {
    child,
    output: () => output,
    printed: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const check = () => output.includes(text) && resolve();
        waiting.push(check);
        child.once('exit', () => reject(new Error(`${name} ended: ${output}`)));
        check();
      }),
  };
}

for (const [name, command] of [
  ['follow.mjs', process.execPath],
  ['follow.py', 'python3'],
] as const) {
  test(`docs/events.md: ${name} continues where it was`, { skip: !isInstalled(command) }, async (t) => {
    const { make, origin, key } = await startTestService(t, 'sqlite');
    const env = { URL: origin, KEY: await key() };
    const folder = temporaryFolder(t);
    const first = run(t, folder, name, command, env);
    const person = await make('/v1/personnel', env.KEY, { name: 'Ada' });
    await first.printed(`person.created ${person.user_id}`);
    first.child.kill('SIGKILL');
    const group = await make('/v1/groups', env.KEY, { name: 'Works' });
    const second = run(t, folder, name, command, env);
    await second.printed(`group.created ${group.id}`);
    const project = await make('/v1/projects', env.KEY, { name: 'Apollo' });
    await second.printed(`project.created ${project.id}`);
  });
}

test('docs/events.md: curl follows the stream', { skip: !isInstalled('curl') }, async (t) => {
  const { make, origin, key } = await startTestService(t, 'sqlite');
  const env = { URL: origin, KEY: await key() };
  const curl = run(t, temporaryFolder(t), 'follow.sh', 'bash', env);
  await curl.printed('retry: ');
  const person = await make('/v1/personnel', env.KEY, { name: 'Ada' });
  await curl.printed(person.user_id);
  assert.match(curl.output(), /id: \d+\nevent: person.created\ndata: \{/);
});
