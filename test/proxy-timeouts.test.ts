import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startHaproxy } from './haproxy.ts';
import { startNginxExample } from './nginx.ts';
import { isInstalled } from './programs.ts';

const examples = [
  ['haproxy', startHaproxy],
  ['nginx', startNginxExample],
] as const;

for (const [program, start] of examples) {
  test(`the example for ${program} waits longer for imports, and reports a timeout as the service would`, async (t) => {
    if (!isInstalled(program)) return t.skip(`${program} is not installed`);
    const { promise: hasTimedOut, resolve: timeOut } = Promise.withResolvers<void>();
    const instance = createServer(async ({ url = '' }, response) => {
      if (url === '/v1/silent') return;
      if (url !== '/readyz') await hasTimedOut;
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(instance, 'listening');
    t.after(() => {
      instance.close();
      instance.closeAllConnections();
    });
    const { port } = instance.address() as AddressInfo;
    const origin = await start(t, [`http://127.0.0.1:${port}`], '1s');
    const imports = [
      '/v1/personnel/import',
      '/v1/projects/APOLLO/risks/import?atomic=true',
      '/v1/imports/risks',
    ].map((path) => fetch(origin + path, { method: 'POST', body: 'name\nAda\n' }));
    const silent = await fetch(`${origin}/v1/silent`);
    assert.deepEqual(
      [silent.status, silent.headers.get('content-type'), silent.headers.get('retry-after')],
      [503, 'application/problem+json', '1'],
    );
    const { status, code, detail } = (await silent.json()) as Record<string, string>;
    assert.deepEqual([status, code], [503, 'unavailable']);
    assert.match(detail ?? '', /may or may not have been saved/);
    timeOut();
    for (const response of await Promise.all(imports)) assert.equal(response.status, 200, response.url);
  });
}
