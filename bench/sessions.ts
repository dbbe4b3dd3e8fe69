import { buildService } from '../build.ts';
import { buildConsole } from '../web/build.ts';
import { chooseTool } from './load.ts';
import { median } from './measurement.ts';
import { cpuSecondsOf } from './memory.ts';
import { muster, start } from './processes.ts';
import { report } from './tested-service.ts';

/** A cached page in a session must cost about as much as with a key: CPU time per request, in alternating rounds. */
const rounds = 7;
const seconds = 3;
const minRatio = 0.9;

await buildConsole();
await buildService();
await using service = start(...muster('demo'), { MUSTER_PORT: '0', MUSTER_RATE_LIMIT: '0' });
const [, port, link = '', key = ''] = await service.waitForOutput(
  /ready at http:\/\/[^:]+:(\d+)[\s\S]*(msl_\w+)[\s\S]*(mst_\w+)/,
);
const origin = `http://127.0.0.1:${port}`;
const signedIn = await fetch(`${origin}/v1/session`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin },
  body: JSON.stringify({ link }),
});
const cookie = signedIn.headers.get('set-cookie')?.split(';')[0];
if (!cookie) throw new Error(`Signing in failed: ${signedIn.status} ${await signedIn.text()}`);

const senders = { key: { authorization: `Bearer ${key}` }, session: { cookie } };
const tool = chooseTool(undefined);

/** Microseconds of CPU time of the service per request. */
async function measure(headers: Record<string, string>, duration: number): Promise<number> {
  const before = cpuSecondsOf(service.pid);
  const traffic = { origins: [origin], connections: 16, path: '/v1/risks?limit=50', headers };
  const { requests } = await tool.send(traffic, duration);
  return ((cpuSecondsOf(service.pid) - before) / requests) * 1e6;
}

for (const headers of Object.values(senders)) await measure(headers, 2);
const costs: Record<keyof typeof senders, number[]> = { key: [], session: [] };
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? (['key', 'session'] as const) : (['session', 'key'] as const);
  for (const name of order) costs[name].push(await measure(senders[name], seconds));
}
const [ofKey, ofSession] = [median(costs.key), median(costs.session)];
const ratio = ofKey / ofSession;
const microseconds = (value: number) => `${value.toFixed(1)} µs`;
report(`a cached page, ${rounds} rounds of ${seconds} s each, ${tool.name}`, [
  ['with a key', microseconds(ofKey), '', true],
  ['in a session', microseconds(ofSession), '', true],
  ['ratio', ratio.toFixed(2), `≥ ${minRatio}`, ratio >= minRatio],
]);
