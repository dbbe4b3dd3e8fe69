import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { signedHeaders } from '../src/resources/webhooks/message.ts';
import { freePort } from './ports.ts';
import { temporaryFolder } from './process.ts';
import { isInstalled } from './programs.ts';

const guide = readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8');
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const body = '{"type":"webhook.test","data":{"title":"Café"}}';

/** Starts a receiver of the guide and returns its URL once it accepts connections. */
async function startReceiver(t: TestContext, name: string, command: string): Promise<string> {
  const file = join(temporaryFolder(t), name);
  const [, code] = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? [];
  assert.ok(code, `${name} is in the guide`);
  writeFileSync(file, code);
  const port = await freePort();
  const environment = { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(command, [file], { env: environment, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}/`;
  for (;;) {
    assert.equal(child.exitCode, null, `${name} runs`);
    const isListening = await post(url, body, {}).catch(() => undefined);
    if (isListening !== undefined) return url;
  }
}

const post = async (url: string, body: string, headers: Record<string, string>) =>
  (
    await fetch(url, {
      method: 'POST',
      body,
      headers: { 'webhook-timestamp': '0', 'webhook-signature': '', ...headers },
    })
  ).status;

for (const [name, command] of [
  ['webhook.mjs', process.execPath],
  ['webhook.py', 'python3'],
] as const) {
  const skip = !isInstalled(command);
  test(`docs/webhooks.md: ${name} accepts signed messages only`, { skip }, async (t) => {
    const url = await startReceiver(t, name, command);
    const now = new Date();
    const signed = (secrets: string[], time = now) =>
      signedHeaders(secrets, 'evt_1', time.toISOString(), body);
    const other = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    assert.equal(await post(url, body, signed([secret])), 204);
    assert.equal(await post(url, body, signed([other, secret])), 204, 'during a rotation');
    assert.equal(await post(url, body, signed([other])), 401);
    assert.equal(await post(url, `${body} `, signed([secret])), 401);
    assert.equal(await post(url, body, signed([secret], new Date(now.getTime() - 600_000))), 401);
  });
}
