import { setTimeout } from 'node:timers/promises';
import { type Client, expectJson, type Response } from './client.ts';
import { startLoops } from './loops.ts';
import type { Tally } from './outcome.ts';
import type { Random } from './random.ts';

const riskCount = 4;

/** Risks whose titles are numbers that increase with each write. */
export type Risks = {
  /** The path of the list. */
  list: string;
  /** The number in the last acknowledged title of each risk. */
  acknowledged: Record<string, number>;
  /** The number in the last title that was sent, acknowledged or not. */
  sent: Record<string, number>;
  reads: number;
  /** How many reads were 304. */
  notModified: number;
  /** Requests that got 503 or no response. */
  unavailable: number;
};

export async function createRisks(client: Client, project: string): Promise<Risks> {
  const list = `/v1/projects/${project}/risks`;
  const acknowledged: Risks['acknowledged'] = {};
  for (let i = 0; i < riskCount; i++) {
    const body = { title: 'R0', probability: 3, impact: 3 };
    acknowledged[(await expectJson(client, 'POST', list, body)).key] = 0;
  }
  return { list, acknowledged, sent: { ...acknowledged }, reads: 0, notModified: 0, unavailable: 0 };
}

type Checks = {
  writing: Client;
  reading: Client;
  risks: Risks;
  tally: Tally;
  random: Random;
  readersPerPath?: number;
  /** Paths whose responses are compared with nothing, but must be complete and valid too. */
  others?: string[];
};

/** Changes risks, and compares every read with what was acknowledged before it began, also when it is a 304. */
export function startFreshnessChecks(checks: Checks) {
  const { writing, reading, risks, tally, random, readersPerPath = 1, others = [] } = checks;

  /** Sends a request that may get 503 or lose its connection. */
  async function attempt(
    client: Client,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response | undefined> {
    const response = await client.send(method, path, body, headers).catch(() => undefined);
    if (response === undefined || response.status === 503) risks.unavailable++;
    else if (response.status === 200 || response.status === 304) return response;
    else tally.fail(`${method} ${path} returned ${response.status}.`);
    return undefined;
  }

  const write = (key: string) => async () => {
    const number = (risks.sent[key] ?? 0) + 1;
    risks.sent[key] = number;
    if (await attempt(writing, 'PATCH', `${risks.list}/${key}`, { title: `R${number}` })) {
      risks.acknowledged[key] = number;
      tally.acknowledged++;
    }
    // Leaves time to cache and revalidate responses between writes.
    await setTimeout(random.integer(0, 30));
  };

  /** Reads with a cache of one response, revalidated with `If-None-Match`. */
  const read = (path: string) => {
    let cached: { etag: string; seen: Map<string, number> } | undefined;
    return async () => {
      const before = { ...risks.acknowledged };
      const headers: Record<string, string> = cached ? { 'if-none-match': cached.etag } : {};
      const response = await attempt(reading, 'GET', path, undefined, headers);
      if (!response) return;
      if (response.status === 200)
        cached = { etag: String(response.headers.etag), seen: numbersIn(response) };
      else risks.notModified++;
      risks.reads++;
      for (const [key, number] of cached?.seen ?? []) {
        if (number >= (before[key] ?? 0)) continue;
        tally.stale++;
        tally.fail(
          `GET ${path} (${response.status}) showed ${key} as R${number} after R${before[key]} was acknowledged.`,
        );
      }
    };
  };

  const readOther = (path: string) => async () => {
    (await attempt(reading, 'GET', path))?.json();
    await setTimeout(random.integer(0, 30));
  };

  const keys = Object.keys(risks.acknowledged);
  const paths = ['/v1/risks', '/v1/risks?limit=10', `${risks.list}?limit=10`, `${risks.list}/${keys[0]}`];
  return startLoops(
    ...keys.map(write),
    ...Array.from({ length: readersPerPath }, () => paths.map(read)).flat(),
    ...others.map(readOther),
  );
}

type Risk = { key: string; title: string };

export function numbersIn(response: Response): Map<string, number> {
  const body = response.json() as Risk | { data: Risk[] };
  const risks = 'data' in body ? body.data : [body];
  return new Map(risks.map(({ key, title }) => [key, Number(title.slice(1))]));
}
