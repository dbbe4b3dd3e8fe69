import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import type { Benchmark } from './benchmarks.ts';
import { baseUrlOf, dropRanks, pagePath, pageTraffic, parseData } from './checks.ts';
import type { FastifyServer } from './children/fastify-server.ts';
import { sqliteFile } from './datasets.ts';
import { nodeScript } from './processes.ts';
import { fetchResponse } from './responses.ts';
import { measureLoad } from './runner.ts';
import { startPeer, startService, withoutCache } from './servers.ts';

const startFastify = (server: FastifyServer) =>
  startPeer(...nodeScript('children/fastify-server.ts', JSON.stringify(server)));

const cachedPage: Benchmark = {
  name: 'page-fastify',
  work: `GET ${pagePath}, data unchanged`,
  baseline: 'bare Fastify, the same bytes from memory',
  goal: { judged_by: 'ratio', bound: 1 },
  async run(context) {
    await using service = await startService(context.main);
    const traffic = await pageTraffic(service, context.main);
    const body = join(context.folder, 'fastify-body');
    writeFileSync(body, traffic.response.body);
    await using peer = await startFastify({ body, headers: traffic.response.headers });
    return {
      baseline: await measureLoad(context, [peer], traffic),
      work: await measureLoad(context, [service], traffic),
    };
  },
};

const rebuiltPage: Benchmark = {
  name: 'page-rebuilt-fastify',
  work: 'the page rebuilt for each request (cache off)',
  baseline: 'bare Fastify that runs the bare query',
  goal: { judged_by: 'ratio', bound: 0.7 },
  async run(context) {
    const dataset = context.main;
    await using service = await startService(dataset, withoutCache);
    const traffic = await pageTraffic(service, dataset);
    await using peer = await startFastify({
      database: sqliteFile(dataset),
      today: systemClock().today,
      base_url: baseUrlOf(service),
    });
    const response = await fetchResponse(peer.origin + pagePath, {});
    assert.deepEqual(parseData(response), dropRanks(traffic.response), 'the peer returns the same rows');
    return {
      baseline: await measureLoad(context, [peer], { ...traffic, response }),
      work: await measureLoad(context, [service], traffic),
    };
  },
};

/** Comparisons with the framework that the service is built on, doing only what the request needs. */
export const peerBenchmarks = [cachedPage, rebuiltPage];
