import assert from 'node:assert/strict';
import { systemClock } from '../src/core/clock.ts';
import {
  assertFreshReads,
  baseUrlOf,
  dropRanks,
  fetchPage,
  firstRisk,
  pagePath,
  pageSize,
  pageTraffic,
  parseData,
} from './checks.ts';
import type { PageLoop } from './children/page-loop.ts';
import { authHeaders, type Dataset, sqliteFile } from './datasets.ts';
import { summarizeDurations } from './measurement.ts';
import type { Options } from './options.ts';
import { peerBenchmarks } from './peers.ts';
import { fetchRows, pgbenchVersion, recordPageStatement, runStatement } from './pgbench.ts';
import { nodeScript, run } from './processes.ts';
import { fetchResponse } from './responses.ts';
import type { Goal, Round } from './results.ts';
import { type BenchmarkContext, measureDownload, measureLoad } from './runner.ts';
import { startBaseline, startService, timeToFirstResponse, withoutCache } from './servers.ts';
import { addPerson, addPersonOnPostgres } from './writes.ts';

/** A workload and its baseline. Each round measures the baseline first, then the workload. */
export type Benchmark = {
  name: string;
  work: string;
  baseline: string;
  goal: Goal;
  run(context: BenchmarkContext): Promise<Round>;
};

const atLeast = (bound: number): Goal => ({ judged_by: 'ratio', bound });

const unchanged: Benchmark = {
  name: 'page',
  work: `GET ${pagePath}, data unchanged`,
  baseline: 'node:http, the same bytes',
  goal: atLeast(0.85),
  async run(context) {
    await using service = await startService(context.main);
    const traffic = await pageTraffic(service, context.main);
    await using baselineServer = await startBaseline(context.folder, traffic.response);
    return {
      baseline: await measureLoad(context, [baselineServer], traffic),
      work: await measureLoad(context, [service], traffic),
    };
  },
};

const notModified: Benchmark = {
  name: 'page-304',
  work: 'the same with If-None-Match: 304',
  baseline: 'node:http, an empty 304',
  goal: atLeast(0.8),
  async run(context) {
    await using service = await startService(context.main);
    const { etag } = await fetchPage(service, context.main);
    const headers = { ...authHeaders(context.main), 'if-none-match': etag };
    const response = await fetchResponse(service.origin + pagePath, headers);
    assert.equal(response.status, 304);
    await using baselineServer = await startBaseline(context.folder, response);
    const traffic = { path: pagePath, headers, response };
    return {
      baseline: await measureLoad(context, [baselineServer], traffic),
      work: await measureLoad(context, [service], traffic),
    };
  },
};

const whileWriting: Benchmark = {
  name: 'page-1%-writes',
  work: 'the same, 1 % of requests update a risk on the page',
  baseline: 'node:http, the same bytes',
  goal: atLeast(0.5),
  async run(context) {
    const dataset = context.main;
    await using service = await startService(dataset);
    const response = await fetchPage(service, dataset);
    await using baselineServer = await startBaseline(context.folder, response);
    const risk = firstRisk(response);
    const writes = {
      every: 100,
      method: 'PATCH',
      path: risk.path,
      body: '{"title":"Late again, {n}"}',
    } as const;
    const traffic = { path: pagePath, headers: authHeaders(dataset), writes };
    const baseline = await measureLoad(context, [baselineServer], traffic);
    const work = await measureLoad(context, [service], traffic);

    const after = firstRisk(await fetchPage(service, dataset));
    assert.ok(
      after.version - risk.version >= (work.requests / writes.every) * 0.9,
      'the page shows the writes',
    );
    return { baseline, work };
  },
};

const rebuilt: Benchmark = {
  name: 'page-rebuilt',
  work: 'the page rebuilt for each request (cache off)',
  baseline: 'the bare prepared query in a loop',
  goal: atLeast(0.5),
  async run(context) {
    const dataset = context.main;
    const { warm, seconds } = context;
    await using service = await startService(dataset, withoutCache);
    const traffic = await pageTraffic(service, dataset);
    const { today } = systemClock();
    const base_url = baseUrlOf(service);
    const loop: PageLoop = { file: sqliteFile(dataset), today, base_url, warm, seconds };
    const { measurement, data } = JSON.parse(
      await run(...nodeScript('children/page-loop.ts', JSON.stringify(loop))),
    );
    assert.deepEqual(data, dropRanks(traffic.response), 'the bare query returns the same rows');
    return { baseline: measurement, work: await measureLoad(context, [service], traffic) };
  },
};

const everyone: Benchmark = {
  name: 'personnel',
  work: 'GET /v1/personnel, everyone, rebuilt',
  baseline: 'node:http streaming the same bytes',
  goal: { ...atLeast(0.3), growth_mb: 64 },
  async run(context) {
    const dataset = context.main;
    const path = '/v1/personnel';
    await using service = await startService(dataset, withoutCache);
    const response = await fetchResponse(service.origin + path, authHeaders(dataset));
    assert.equal(parseData(response).length, context.people, 'everyone is in the list');
    await using baselineServer = await startBaseline(context.folder, response);
    return {
      baseline: await measureDownload(context, baselineServer, path, authHeaders(dataset), response),
      work: await measureDownload(context, service, path, authHeaders(dataset), response),
    };
  },
};

const ranked = (risks: number, minRisks: number): Benchmark => ({
  name: `ranked-${risks}`,
  work: `the page rebuilt, ${risks.toLocaleString('en')} risks`,
  baseline: `itself with ${minRisks.toLocaleString('en')} risks`,
  goal: { judged_by: 'slowdown', bound: 1.3 },
  async run(context) {
    const small = context.ranks.get(minRisks) as Dataset;
    const large = context.ranks.get(risks) as Dataset;
    await using smallService = await startService(small, withoutCache);
    await using largeService = await startService(large, withoutCache);
    return {
      baseline: await measureLoad(context, [smallService], await pageTraffic(smallService, small)),
      work: await measureLoad(context, [largeService], await pageTraffic(largeService, large)),
    };
  },
});

const startTime = (risks: number): Benchmark => ({
  name: 'start',
  work: `start to first response, ${risks.toLocaleString('en')} risks`,
  baseline: 'node -e 0',
  goal: { judged_by: 'seconds_more', bound: 0.5 },
  async run({ main }) {
    // The first start fills the compile cache, so it is not measured.
    await timeToFirstResponse(main, pagePath);
    const times: Record<'baseline' | 'work', number[]> = { baseline: [], work: [] };
    for (let i = 0; i < 3; i++) {
      const begin = performance.now();
      await run(process.execPath, ['-e', '0']);
      times.baseline.push(performance.now() - begin);
      times.work.push(await timeToFirstResponse(main, pagePath));
    }
    const side = (durations: number[]) =>
      summarizeDurations(durations, durations.reduce((a, b) => a + b) / 1000);
    return { baseline: side(times.baseline), work: side(times.work) };
  },
});

const onPostgres = (instances: 1 | 2): Benchmark => ({
  name: `postgres-page-${instances}`,
  work: `the page, data unchanged, PostgreSQL, ${instances === 1 ? 'one instance' : 'two instances'}`,
  baseline: 'the same on SQLite',
  goal: atLeast(0.8),
  async run(context) {
    const { main, postgres } = context;
    await using onSqlite = await startService(main);
    await using first = await startService(postgres);
    await using second = instances === 2 ? await startService(postgres) : undefined;
    const services = second ? [first, second] : [first];
    await assertFreshReads(postgres, services);
    const baseline = await measureLoad(context, [onSqlite], await pageTraffic(onSqlite, main));
    const work = await measureLoad(context, services, await pageTraffic(first, postgres));
    await assertFreshReads(postgres, services);
    return { baseline, work };
  },
});

const rebuiltOnPostgres: Benchmark = {
  name: 'postgres-page-rebuilt',
  work: 'the page rebuilt, PostgreSQL, 10 connections',
  baseline: pgbenchVersion()
    ? 'the same statement by pgbench'
    : 'the same statement by bare pg (no pgbench here)',
  goal: atLeast(0.5),
  async run(context) {
    const { warm, seconds, folder, postgres: dataset } = context;
    const connections = 10;
    await using service = await startService(dataset, withoutCache);
    const traffic = await pageTraffic(service, dataset);
    const statement = await recordPageStatement(dataset.url, pageSize, baseUrlOf(service));
    assert.deepEqual(
      (await fetchRows(dataset.url, statement)).slice(0, pageSize),
      dropRanks(traffic.response),
      'the statement returns the same rows',
    );
    return {
      baseline: await runStatement(statement, folder, { url: dataset.url, connections, warm, seconds }),
      work: await measureLoad(context, [service], { ...traffic, connections }),
    };
  },
};

/** All benchmarks, in the order of a round. */
export const listBenchmarks = ({
  sizes,
  ranks: [minRisks = 0, ...more],
}: Pick<Options, 'sizes' | 'ranks'>): Benchmark[] => [
  unchanged,
  notModified,
  whileWriting,
  rebuilt,
  ...peerBenchmarks,
  everyone,
  addPerson,
  ...more.map((risks) => ranked(risks, minRisks)),
  startTime(sizes.risks),
  onPostgres(1),
  onPostgres(2),
  rebuiltOnPostgres,
  addPersonOnPostgres,
];
