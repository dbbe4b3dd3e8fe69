import assert from 'node:assert/strict';
import { systemClock } from '../src/core/clock.ts';
import {
  askForPage,
  countPeople,
  dataOf,
  firstRisk,
  keepFreshnessPromise,
  page,
  pageTraffic,
  rows,
  unranked,
} from './checks.ts';
import type { InsertLoop } from './children/insert-loop.ts';
import type { PageLoop } from './children/page-loop.ts';
import { bearer, copyOf, type Dataset, fileOf } from './datasets.ts';
import { measured } from './measurement.ts';
import type { Options } from './options.ts';
import { pageStatement, rowsOf, runStatement, versionOfPgbench } from './pgbench.ts';
import { run, script } from './processes.ts';
import { ask } from './responses.ts';
import type { Goal, Round } from './results.ts';
import { download, hammer, type Stage, usualConnections } from './runner.ts';
import { startBaseline, startService, timeToFirstAnswer, withoutCache } from './servers.ts';

/** A piece of work, measured beside its baseline in the same round: first the one, then the other. */
export type Benchmark = {
  name: string;
  work: string;
  baseline: string;
  goal: Goal;
  run(stage: Stage): Promise<Round>;
};

const atLeast = (bound: number): Goal => ({ judged_by: 'ratio', bound });

const unchanged: Benchmark = {
  name: 'page',
  work: `GET ${page}, data unchanged`,
  baseline: 'node:http, the same bytes',
  goal: atLeast(0.85),
  async run(stage) {
    await using service = await startService(stage.main);
    const traffic = await pageTraffic(service, stage.main);
    await using bare = await startBaseline(stage.folder, traffic.answer);
    return { baseline: await hammer(stage, [bare], traffic), work: await hammer(stage, [service], traffic) };
  },
};

const notModified: Benchmark = {
  name: 'page-304',
  work: 'the same with If-None-Match: 304',
  baseline: 'node:http, an empty 304',
  goal: atLeast(0.8),
  async run(stage) {
    await using service = await startService(stage.main);
    const { etag } = await askForPage(service, stage.main);
    const headers = { ...bearer(stage.main), 'if-none-match': etag };
    const answer = await ask(service.origin + page, headers);
    assert.equal(answer.status, 304);
    await using bare = await startBaseline(stage.folder, answer);
    const traffic = { path: page, headers, answer };
    return { baseline: await hammer(stage, [bare], traffic), work: await hammer(stage, [service], traffic) };
  },
};

const whileWriting: Benchmark = {
  name: 'page-1%-writes',
  work: 'the same, 1 % of requests change a risk on it',
  baseline: 'node:http, the same bytes',
  goal: atLeast(0.5),
  async run(stage) {
    const dataset = stage.main;
    await using service = await startService(dataset);
    const answer = await askForPage(service, dataset);
    await using bare = await startBaseline(stage.folder, answer);
    const risk = firstRisk(answer);
    const writes = {
      every: 100,
      method: 'PATCH',
      path: risk.path,
      body: '{"title":"Late again, {n}"}',
    } as const;
    const traffic = { path: page, headers: bearer(dataset), writes };
    const baseline = await hammer(stage, [bare], traffic);
    const work = await hammer(stage, [service], traffic);

    const after = firstRisk(await askForPage(service, dataset));
    assert.ok(
      after.version - risk.version >= (work.requests / writes.every) * 0.9,
      'the page shows the writes',
    );
    return { baseline, work };
  },
};

const builtAnew: Benchmark = {
  name: 'page-anew',
  work: 'the page built anew each time (cache off)',
  baseline: 'the bare prepared query in a loop',
  goal: atLeast(0.5),
  async run(stage) {
    const dataset = stage.main;
    const { warm, seconds } = stage;
    await using service = await startService(dataset, withoutCache);
    const traffic = await pageTraffic(service, dataset);
    const loop: PageLoop = { file: fileOf(dataset), today: systemClock().today, warm, seconds };
    const { measurement, data } = JSON.parse(
      await run(...script('children/page-loop.ts', JSON.stringify(loop))),
    );
    assert.deepEqual(data, unranked(traffic.answer), 'the bare query gives the same rows');
    return { baseline: measurement, work: await hammer(stage, [service], traffic) };
  },
};

const everyone: Benchmark = {
  name: 'personnel',
  work: 'GET /v1/personnel, everyone, built anew',
  baseline: 'node:http streaming the same bytes',
  goal: { ...atLeast(0.3), growth_mb: 64 },
  async run(stage) {
    const dataset = stage.main;
    const path = '/v1/personnel';
    await using service = await startService(dataset, withoutCache);
    const answer = await ask(service.origin + path, bearer(dataset));
    assert.equal(dataOf(answer).length, stage.people, 'everyone is in the list');
    await using bare = await startBaseline(stage.folder, answer);
    return {
      baseline: await download(stage, bare, path, bearer(dataset), answer),
      work: await download(stage, service, path, bearer(dataset), answer),
    };
  },
};

const adding: Benchmark = {
  name: 'add-person',
  work: `POST /v1/personnel, ${usualConnections} connections, durable`,
  baseline: 'one durable insert after another in a loop',
  goal: atLeast(1),
  async run(stage) {
    const { warm, seconds, roster } = stage;
    const loop: InsertLoop = { file: fileOf(copyOf(roster, 'loop')), warm, seconds };
    const { measurement } = JSON.parse(await run(...script('children/insert-loop.ts', JSON.stringify(loop))));

    const served = copyOf(roster, 'served');
    await using service = await startService(served);
    const body =
      '{"name":"Bench Person","email":"served-{n}@example.com","title":"Engineer","department":"Operations"}';
    const writes = { every: 1, method: 'POST', path: '/v1/personnel', body } as const;
    const before = await countPeople(service, served);
    const work = await hammer(stage, [service], { path: '/v1/personnel', headers: bearer(served), writes });
    const added = (await countPeople(service, served)) - before;
    assert.ok(added >= work.requests, `${work.requests} answers, ${added} people`);
    return { baseline: measurement, work };
  },
};

const ranked = (risks: number, fewest: number): Benchmark => ({
  name: `ranked-${risks}`,
  work: `the page built anew, ${risks.toLocaleString('en')} risks`,
  baseline: `itself with ${fewest.toLocaleString('en')} risks`,
  goal: { judged_by: 'slowdown', bound: 1.3 },
  async run(stage) {
    const small = stage.ranks.get(fewest) as Dataset;
    const large = stage.ranks.get(risks) as Dataset;
    await using one = await startService(small, withoutCache);
    await using other = await startService(large, withoutCache);
    return {
      baseline: await hammer(stage, [one], await pageTraffic(one, small)),
      work: await hammer(stage, [other], await pageTraffic(other, large)),
    };
  },
});

const starting = (risks: number): Benchmark => ({
  name: 'start',
  work: `start to first answer, ${risks.toLocaleString('en')} risks`,
  baseline: 'node -e 0',
  goal: { judged_by: 'seconds_more', bound: 0.5 },
  async run({ main }) {
    // Sources are compiled once; a user who starts twice sees the second start.
    await timeToFirstAnswer(main, page);
    const times: Record<'baseline' | 'work', number[]> = { baseline: [], work: [] };
    for (let i = 0; i < 3; i++) {
      const begin = performance.now();
      await run(process.execPath, ['-e', '0']);
      times.baseline.push(performance.now() - begin);
      times.work.push(await timeToFirstAnswer(main, page));
    }
    const side = (durations: number[]) => measured(durations, durations.reduce((a, b) => a + b) / 1000);
    return { baseline: side(times.baseline), work: side(times.work) };
  },
});

const onPostgres = (instances: 1 | 2): Benchmark => ({
  name: `postgres-page-${instances}`,
  work: `the page, data unchanged, PostgreSQL, ${instances === 1 ? 'one instance' : 'two instances'}`,
  baseline: 'the same on SQLite',
  goal: atLeast(0.8),
  async run(stage) {
    const { main, postgres } = stage;
    await using onSqlite = await startService(main);
    await using first = await startService(postgres);
    await using second = instances === 2 ? await startService(postgres) : undefined;
    const services = second ? [first, second] : [first];
    await keepFreshnessPromise(postgres, services);
    const baseline = await hammer(stage, [onSqlite], await pageTraffic(onSqlite, main));
    const work = await hammer(stage, services, await pageTraffic(first, postgres));
    await keepFreshnessPromise(postgres, services);
    return { baseline, work };
  },
});

const builtAnewOnPostgres: Benchmark = {
  name: 'postgres-page-anew',
  work: 'the page built anew, PostgreSQL, 10 connections',
  baseline: versionOfPgbench()
    ? 'the same statement by pgbench'
    : 'the same statement by bare pg (no pgbench here)',
  goal: atLeast(0.5),
  async run(stage) {
    const { warm, seconds, folder, postgres: dataset } = stage;
    const connections = 10;
    await using service = await startService(dataset, withoutCache);
    const traffic = await pageTraffic(service, dataset);
    const statement = await pageStatement(dataset.url, rows);
    assert.deepEqual(
      (await rowsOf(dataset.url, statement)).slice(0, rows),
      unranked(traffic.answer),
      'the statement gives the same rows',
    );
    return {
      baseline: await runStatement(statement, folder, { url: dataset.url, connections, warm, seconds }),
      work: await hammer(stage, [service], { ...traffic, connections }),
    };
  },
};

/** All of them, in the order in which they take turns. */
export const benchmarksOf = ({
  sizes,
  ranks: [fewest = 0, ...more],
}: Pick<Options, 'sizes' | 'ranks'>): Benchmark[] => [
  unchanged,
  notModified,
  whileWriting,
  builtAnew,
  everyone,
  adding,
  ...more.map((risks) => ranked(risks, fewest)),
  starting(sizes.risks),
  onPostgres(1),
  onPostgres(2),
  builtAnewOnPostgres,
];
