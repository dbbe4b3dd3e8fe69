import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Asks `/livez` again and again, from a thread of its own, so that a busy test does not look like a busy service.
 * `stop` returns the longest time that a response took, in milliseconds.
 */
export async function probeLivez(origin: string): Promise<{ stop(): Promise<number> }> {
  const worker = new Worker(program, { eval: true, workerData: `${origin}/livez` });
  await once(worker, 'message');
  return {
    async stop() {
      worker.postMessage('stop');
      const [longest] = await once(worker, 'message');
      await worker.terminate();
      return longest;
    },
  };
}

const program = `
  const http = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let longest = 0;
  let isStopped = false;
  parentPort.on('message', () => { isStopped = true; });
  const ask = () => new Promise((resolve, reject) => {
    http.get(workerData, { agent }, (response) => response.resume().on('end', resolve)).on('error', reject);
  });
  (async () => {
    await ask();
    parentPort.postMessage('started');
    while (!isStopped) {
      const start = performance.now();
      await ask();
      longest = Math.max(longest, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    parentPort.postMessage(longest);
  })();
`;
