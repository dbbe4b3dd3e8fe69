import assert from 'node:assert/strict';
import { bearer, type Dataset } from './datasets.ts';
import { type Answer, ask } from './responses.ts';
import type { Server } from './servers.ts';

export const rows = 50;
export const page = `/v1/risks?limit=${rows}`;

/** Asks for the page over and over, and gets this answer. */
export const pageTraffic = async (service: Server, dataset: Dataset) => ({
  path: page,
  headers: bearer(dataset),
  answer: await askForPage(service, dataset),
});

/** One page, and nothing is wrong with it. */
export async function askForPage({ origin }: Server, dataset: Dataset): Promise<Answer> {
  const answer = await ask(origin + page, bearer(dataset));
  assert.equal(answer.status, 200);
  assert.equal(dataOf(answer).length, rows, 'the page is full');
  assert.ok(answer.etag, 'the answer has a tag');
  assert.ok(answer.headers.includes('ratelimit'), 'the answer tells the rate limit');
  return answer;
}

type RiskRow = {
  id: string;
  key: string;
  project_key: string;
  title: string;
  version: number;
  rank?: number;
};

export const dataOf = ({ body }: Answer): RiskRow[] => JSON.parse(body.toString()).data;

/** A baseline does not number its rows. */
export const unranked = (answer: Answer) => dataOf(answer).map(({ rank, ...risk }) => risk);

/** The risk at the top, and where to change it. */
export function firstRisk(answer: Answer) {
  const [risk] = dataOf(answer);
  assert.ok(risk);
  return { ...risk, path: `/v1/projects/${risk.project_key}/risks/${risk.key}` };
}

export async function countPeople({ origin }: Server, dataset: Dataset): Promise<number> {
  const answer = await ask(`${origin}/v1/personnel?limit=1&count=true`, bearer(dataset));
  return JSON.parse(answer.body.toString()).page.total;
}

/** What one instance has written is in the very next page of every other. */
export async function keepFreshnessPromise(dataset: Dataset, services: Server[]): Promise<void> {
  for (let i = 0; i < 20; i++) {
    for (const [at, writer] of services.entries()) {
      const reader = services[(at + 1) % services.length] ?? writer;
      const { path } = firstRisk(await askForPage(reader, dataset));
      const title = `Late again, ${crypto.randomUUID()}`;
      const written = await fetch(writer.origin + path, {
        method: 'PATCH',
        headers: { ...bearer(dataset), 'content-type': 'application/json' },
        body: JSON.stringify({ title }),
      });
      assert.equal(written.status, 200);
      assert.equal(firstRisk(await askForPage(reader, dataset)).title, title, 'the next read sees the write');
    }
  }
}
