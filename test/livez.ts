import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Requests `/livez` in a loop from a worker thread, so that a busy test does not look like a busy service.
 * `stop` returns the maximum response time in milliseconds.
 */
export async function probeLivez(origin: string): Promise<{ stop(): Promise<number> }> {
  const worker = new Worker(program, { eval: true, workerData: `${origin}/livez` });
  await once(worker, 'message');
  return {
    async stop() {
      worker.postMessage('stop');
      const [maxMs] = await once(worker, 'message');
      await worker.terminate();
      return maxMs;
    },
  };
}

const program = `
  const http = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let maxMs = 0;
  let isStopped = false;
  parentPort.on('message', () => { isStopped = true; });
  const get = () => new Promise((resolve, reject) => {
    http.get(workerData, { agent }, (response) => response.resume().on('end', resolve)).on('error', reject);
  });
  (async () => {
    await get();
    parentPort.postMessage('started');
    while (!isStopped) {
      const start = performance.now();
      await get();
      maxMs = Math.max(maxMs, performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    parentPort.postMessage(maxMs);
  })();
`;
