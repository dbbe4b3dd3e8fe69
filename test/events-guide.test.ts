import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventTypes } from '../src/resources/events/schema.ts';
import { temporaryFolder, waitForOutput, watchOutput } from './process.ts';
import { isInstalled } from './programs.ts';
import { startTestService } from './service.ts';

const guide = readFileSync(new URL('../docs/events.md', import.meta.url), 'utf8');

function programOf(name: string): string {
  const [, code = ''] = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? [];
  assert.ok(code !== '' && code.split('\n').length <= 25, `${name} is in the guide and has at most 24 lines`);
  return code;
}

/** Runs a program of the guide in a folder. `printed` resolves when its output contains the text. */
function run(t: TestContext, folder: string, name: string, command: string, env: Record<string, string>) {
  writeFileSync(join(folder, name), programOf(name));
  const child = spawn(command, [name], { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  t.after(() => child.kill('SIGKILL'));
  const running = watchOutput(child);
  return { ...running, printed: (text: string) => waitForOutput(running, (output) => output.includes(text)) };
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
  assert.match(curl.stdout(), /id: \d+\nevent: person.created\ndata: \{/);
});

test('docs/events.md: stream.mjs gets the events that it missed while it was disconnected', async (t) => {
  const { call, get, make, origin, key } = await startTestService(t, 'sqlite');
  const env = { URL: origin, KEY: await key() };
  const other = await key();
  const program = run(t, temporaryFolder(t), 'stream.mjs', process.execPath, env);
  await program.printed('connected');
  const group = await make('/v1/groups', other, { name: 'Works' });
  await program.printed(`group.created ${group.id}`);
  const { key_id } = (await get('/v1/me', env.KEY)).body;
  await call('PATCH', `/v1/keys/${key_id}`, other, { name: 'renamed' });
  await program.printed('closed {"reason":"key_changed"}');
  const person = await make('/v1/personnel', other, { name: 'Ada' });
  await program.printed(`person.created ${person.user_id}`);
});

/** Gives a program what a page has: relative addresses, and an `EventSource`, which here reports its listeners. */
const page = `
const { fetch, EventSource } = globalThis;
const resolve = (path) => new URL(path, process.env.ORIGIN);
globalThis.fetch = (path) => fetch(resolve(path));
globalThis.EventSource = class extends EventSource {
  types = [];
  constructor(path) {
    super(resolve(path));
    super.addEventListener('open', () => console.log('listening to', this.types.join()));
  }
  addEventListener(type, listener) {
    this.types.push(type);
    super.addEventListener(type, listener);
  }
};
`;

/** Forwards requests with a cookie, as a browser adds it. Returns the address. */
async function startCookieProxy(t: TestContext, origin: string, cookie: string): Promise<string> {
  const proxy = createServer(({ url, headers }, response) => {
    request(origin + url, { headers: { ...headers, cookie } }, (received) => {
      response.writeHead(received.statusCode ?? 500, received.headers);
      received.pipe(response);
    }).end();
  }).listen(0, '127.0.0.1');
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test('docs/events.md: listen.mjs listens to every type', async (t) => {
  const { make, origin, key, post } = await startTestService(t, 'sqlite');
  const secret = await key();
  const session = await post('/v1/session', undefined, { key: secret }, { origin });
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'page.mjs'), page);
  const program = run(t, folder, 'listen.mjs', process.execPath, {
    ORIGIN: await startCookieProxy(t, origin, cookie),
    NODE_OPTIONS: '--experimental-eventsource --import ./page.mjs',
  });
  await program.printed('listening to');
  const group = await make('/v1/groups', secret, { name: 'Works' });
  await program.printed('group.created {');
  await program.printed(group.id);
  const [, listened] = /listening to (.*)/.exec(program.stdout()) ?? [];
  assert.deepEqual(listened?.split(','), [...Object.keys(eventTypes), 'dropped', 'closed']);
});

test('docs/events.md lists every type', () => {
  const [, section = ''] = /^## Types\n([\s\S]*?)^`openapi.json`/m.exec(guide) ?? [];
  const listed = [...section.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type);
  assert.deepEqual(listed, Object.keys(eventTypes));
  assert.ok(guide.includes(`${listed.length} [types](#types)`), 'the guide says how many types there are');
});
