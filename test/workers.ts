import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { TestContext } from 'node:test';
import { startMuster, temporaryFolder } from './process.ts';
import { type Engine, freshDatabase } from './service.ts';

export type WorkerResponse = {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the body
  body: any;
};

/** Starts the built service with two workers on an empty database. */
export async function startWorkers(t: TestContext, engine: Engine, environment: Record<string, string> = {}) {
  const { url, drop } = await freshDatabase(engine);
  t.after(drop);
  const running = await startMuster(t, temporaryFolder(t), {
    MUSTER_DATABASE_URL: url,
    MUSTER_WORKERS: '2',
    MUSTER_LOG_LEVEL: 'info',
    ...environment,
  });
  const { hostname, port } = new URL(running.origin);
  const lines = () =>
    running
      .stderr()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const started = (): number[] => lines().flatMap(({ msg, pid }) => (/listening/.test(msg) ? [pid] : []));
  const pids = () => started().filter(isRunning);

  const nextOutput = () => new Promise((resolve) => running.child.stderr?.once('data', resolve));

  function send(method: string, path: string, body?: object, key = running.key, agent?: Agent) {
    return new Promise<WorkerResponse>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      };
      // Without an agent, each request has a new connection, which any worker may accept.
      request({ hostname, port, method, path, headers, agent: agent ?? false }, async (response) => {
        try {
          const text = Buffer.concat(await response.toArray()).toString();
          const isJson = response.headers['content-type']?.includes('json');
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text, body: isJson ? JSON.parse(text) : undefined });
        } catch (error) {
          reject(error);
        }
      })
        .on('error', reject)
        .end(body && JSON.stringify(body));
    });
  }

  return {
    ...running,
    send,
    /** The workers that run now. */
    pids,
    /** The workers of the requests so far. */
    requestPids: (): number[] => lines().flatMap(({ route, pid }) => (route ? [pid] : [])),
    /** Opens a connection to each worker. */
    async connectToEach(): Promise<Agent[]> {
      const connections = new Map<number, Agent>();
      while (connections.size < 2) {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        t.after(() => agent.destroy());
        const { headers } = await send('GET', '/v1/me', undefined, running.key, agent);
        const findLine = () => lines().find(({ request_id }) => request_id === headers['x-request-id']);
        while (!findLine()) await nextOutput();
        connections.set(findLine().pid, agent);
      }
      return [...connections.values()];
    },
    kill(...workers: number[]) {
      for (const pid of workers) process.kill(pid, 'SIGKILL');
    },
    /** Resolves when this many workers have started since the start of the service. */
    async started(count: number): Promise<void> {
      while (started().length < count) await nextOutput();
    },
    /** Starts a request and sends only a part of its body until `finish`, which returns the status. */
    async startUpload(name: string): Promise<{ finish(): Promise<number> }> {
      const body = JSON.stringify({ name });
      const headers = {
        authorization: `Bearer ${running.key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      };
      const upload = request({ hostname, port, method: 'POST', path: '/v1/groups', headers, agent: false });
      const status = new Promise<number>((resolve, reject) => {
        upload.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
      });
      await new Promise((resolve) => upload.once('continue', resolve).flushHeaders());
      upload.write(body.slice(0, 5));
      return {
        finish() {
          upload.end(body.slice(5));
          return status;
        },
      };
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
