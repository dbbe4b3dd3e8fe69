import { setTimeout } from 'node:timers/promises';

/**
 * Sends requests one after another, every fifth a write, until it receives `SIGUSR2`. Then it prints the duration of each
 * request in milliseconds. It is a separate process, so that only the service can delay it.
 */
export type BackgroundLoad = { origin: string; key: string };

const { origin, key }: BackgroundLoad = JSON.parse(process.argv[2] ?? '');
const headers = { authorization: `Bearer ${key}` };
/** The first requests of a new process are slow and are not counted. */
const warmUpRequests = 100;

const times: number[] = [];
let isStopped = false;
process.once('SIGUSR2', () => {
  isStopped = true;
});

for (let i = 0; !isStopped; i++) {
  const start = performance.now();
  const response = await (i % 5 === 0
    ? fetch(`${origin}/v1/groups`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `Group ${i}` }),
      })
    : fetch(`${origin}/v1/personnel?limit=10&count=false`, { headers }));
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the background load received status ${response.status}`);
  if (i === warmUpRequests) console.log('ready');
  if (i > warmUpRequests) times.push(performance.now() - start);
  await setTimeout(5);
}
console.log(JSON.stringify(times));
