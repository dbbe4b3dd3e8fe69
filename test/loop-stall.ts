import { connect } from 'node:net';

/**
 * Measures how long callbacks block the event loop of this thread. It counts CPU time instead of wall-clock time, so
 * that other processes on a busy machine do not count as stalls.
 */
export function watchLoop() {
  let before = readCpuMs();
  let maxMs = 0;
  const tick = () => {
    const now = readCpuMs();
    maxMs = Math.max(maxMs, now - before);
    before = now;
  };
  const timer = setInterval(tick, 1);
  timer.unref();
  return {
    /** Returns the longest stall since the last call. */
    takeMaxMs(): number {
      tick();
      const ms = maxMs;
      maxMs = 0;
      return ms;
    },
    stop: () => clearInterval(timer),
  };
}

function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Makes a child process measure the stalls of its own event loop. */
export const stallEnvironment = {
  NODE_OPTIONS: `--import=${new URL('./loop-stall-server.ts', import.meta.url)}`,
};

/** Returns the longest stall of a process that was started with `stallEnvironment` since the last call. */
export async function takeStallMs({ stdout }: { stdout(): string }): Promise<number> {
  const [, port] = /loop stalls at port (\d+)/.exec(stdout()) ?? [];
  if (port === undefined) throw new Error('The process does not measure its stalls.');
  return readStallMs(Number(port));
}

function readStallMs(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    connect(port, '127.0.0.1')
      .on('data', (data) => {
        text += data;
      })
      .on('end', () => resolve(Number(text)))
      .on('error', reject);
  });
}
