import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../build.ts';
import { cpuSecondsOf } from './memory.ts';
import { type Running, start, stopAll } from './processes.ts';

/**
 * Compares the CPU time per request of this checkout with that of another commit: five runs of each, in turn, on this
 * machine, each a new process with the demo organization. The ratios of the medians are 1 if nothing has changed.
 */
const runs = 5;
const warmRequests = 200;
const measuredRequests = 1000;
/** As many requests as one key may have in progress under overload, so that none is rejected. */
const connections = 4;

/** What both commits can do. The cache is off, because it serves every list in the same way. */
const requests: [name: string, method: string, path: string, body?: object][] = [
  ['risks', 'GET', '/v1/risks?limit=50'],
  ['risks, search', 'GET', '/v1/risks?limit=50&q=signal'],
  ['risks, summary', 'GET', '/v1/risks/summary'],
  ['issues', 'GET', '/v1/issues?limit=50'],
  ['tasks', 'GET', '/v1/tasks?limit=50'],
  ['personnel', 'GET', '/v1/personnel?limit=50'],
  ['everyone', 'GET', '/v1/personnel'],
  ['groups', 'GET', '/v1/groups?limit=50'],
  ['projects', 'GET', '/v1/projects?limit=50'],
  ['me', 'GET', '/v1/me'],
  ['new person', 'POST', '/v1/personnel', { name: 'Ada Lovelace' }],
  ['new group', 'POST', '/v1/groups', {}],
];

const root = join(import.meta.dirname, '..');
const commit = process.argv[2];
if (commit === undefined || commit.startsWith('-')) {
  console.error('Name the commit to compare with: npm run bench -- --against main');
  process.exitCode = 1;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'muster-against-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    const other = join(folder, 'checkout');
    git('worktree', 'add', '--detach', '--quiet', other, commit);
    await buildService();
    await build(other);
    report(await measure(other), git('rev-parse', '--short', commit));
  } finally {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  }
}

/** Only the service: the console is no part of a request. */
async function build(checkout: string): Promise<void> {
  const lockOf = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (withoutVersion(lockOf(checkout)) === withoutVersion(lockOf(root)))
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout, stdio: 'inherit' });
  const script = "await (await import('./build.ts')).buildService()";
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: checkout,
    stdio: 'inherit',
  });
}

/** A release changes the version of the service, not its dependencies. */
function withoutVersion(lock: string): string {
  const { version: _, ...rest } = JSON.parse(lock);
  delete rest.packages[''].version;
  return JSON.stringify(rest);
}

type Costs = { before: number[]; now: number[] };

async function measure(other: string): Promise<Map<string, Costs>> {
  const costs = new Map<string, Costs>(requests.map(([name]) => [name, { before: [], now: [] }]));
  for (let run = 0; run < runs; run++) {
    const sides = [
      ['before', other],
      ['now', root],
    ] as const;
    for (const [side, checkout] of run % 2 === 0 ? sides : sides.toReversed()) {
      const measured = await measureRun(checkout);
      for (const [name, cost] of measured) costs.get(name)?.[side].push(cost);
      console.error(`run ${run + 1} of ${runs}, ${side}`);
    }
  }
  return costs;
}

async function measureRun(checkout: string): Promise<[name: string, microseconds: number][]> {
  await using service: Running = start(process.execPath, [join(checkout, 'dist/main.js'), 'demo'], {
    MUSTER_HOST: '127.0.0.1',
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
    MUSTER_CACHE_MB: '0',
    MUSTER_LOG_LEVEL: 'error',
  });
  const [, origin = ''] = await service.waitForOutput(/The demo is ready at (\S+)/);
  const [key = ''] = await service.waitForOutput(/mst_\w{38}/);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const measured: [string, number][] = [];
  for (const [name, method, path, body] of requests) {
    const send = (count: number) =>
      sendAll(count, (number) => {
        // Names of groups are unique.
        const text = body && JSON.stringify({ name: `Group ${name} ${count} ${number}`, ...body });
        return sendOne(agent, `${origin.replace('localhost', '127.0.0.1')}${path}`, method, key, text);
      });
    await send(warmRequests);
    const before = cpuSecondsOf(service.pid);
    await send(measuredRequests);
    measured.push([name, ((cpuSecondsOf(service.pid) - before) / measuredRequests) * 1e6]);
  }
  agent.destroy();
  return measured;
}

async function sendAll(count: number, send: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: connections }, work));
}

function sendOne(agent: Agent, url: string, method: string, key: string, body: string | undefined) {
  return new Promise<void>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      response.once('error', reject).once('end', () => {
        if (statusCode < 300) resolve();
        else reject(new Error(`${method} ${url} returned ${statusCode}`));
      });
    });
    sent.once('error', reject).end(body);
  });
}

function report(costs: Map<string, Costs>, commit: string): void {
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const rows = [...costs].map(([name, { before, now }]) => {
    const [old, current] = [median(before), median(now)];
    return { name, [`${commit}, µs`]: Math.round(old), 'now, µs': Math.round(current), ratio: current / old };
  });
  const mean = Math.exp(rows.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / rows.length);
  console.table(rows.map((row) => ({ ...row, ratio: Number(row.ratio.toFixed(3)) })));
  console.log(`CPU time per request, geometric mean of the ratios: ${mean.toFixed(3)}`);
}
