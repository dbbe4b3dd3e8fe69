import { setTimeout } from 'node:timers/promises';

/**
 * Someone who asks a service for something, one thing after another, each fifth a write, until `SIGUSR2` comes; then it
 * says how many milliseconds each answer took. A process apart, so that it waits for nobody but the service.
 */
export type Others = { origin: string; key: string };

const { origin, key }: Others = JSON.parse(process.argv[2] ?? '');
const headers = { authorization: `Bearer ${key}` };
/** How long the first answers of a new process take is not meant here. */
const warmUp = 100;

const times: number[] = [];
let isOver = false;
process.once('SIGUSR2', () => {
  isOver = true;
});

for (let i = 0; !isOver; i++) {
  const start = performance.now();
  const response = await (i % 5 === 0
    ? fetch(`${origin}/v1/groups`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `Group ${i}` }),
      })
    : fetch(`${origin}/v1/personnel?limit=10&count=false`, { headers }));
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`another request was answered ${response.status}`);
  if (i === warmUp) console.log('ready');
  if (i > warmUp) times.push(performance.now() - start);
  await setTimeout(5);
}
console.log(JSON.stringify(times));
