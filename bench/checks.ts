import assert from 'node:assert/strict';
import { authHeaders, type Dataset } from './datasets.ts';
import { fetchResponse, type HttpResponse } from './responses.ts';
import type { Server } from './servers.ts';

export const pageSize = 50;
export const pagePath = `/v1/risks?limit=${pageSize}`;

/** Requests for the page, and the response that each of them must get. */
export const pageTraffic = async (service: Server, dataset: Dataset) => ({
  path: pagePath,
  headers: authHeaders(dataset),
  response: await fetchPage(service, dataset),
});

/** The URL with which links in rows begin. Requests go to the address that it stands for. */
export const baseUrlOf = ({ origin }: Server) => origin.replace('127.0.0.1', 'localhost');

/** Fetches the page and checks that it is complete. */
export async function fetchPage({ origin }: Server, dataset: Dataset): Promise<HttpResponse> {
  const response = await fetchResponse(origin + pagePath, authHeaders(dataset));
  assert.equal(response.status, 200);
  assert.equal(parseData(response).length, pageSize, 'the page is full');
  assert.ok(response.etag, 'the response has an ETag');
  assert.ok(response.headers.includes('ratelimit'), 'the response has the rate limit header');
  return response;
}

type RiskRow = {
  id: string;
  key: string;
  project_key: string;
  title: string;
  version: number;
  rank?: number;
};

export const parseData = ({ body }: HttpResponse): RiskRow[] => JSON.parse(body.toString()).data;

/** Removes `rank`, which the baseline does not compute. */
export const dropRanks = (response: HttpResponse) => parseData(response).map(({ rank, ...risk }) => risk);

/** The first risk on the page, with the path to update it. */
export function firstRisk(response: HttpResponse) {
  const [risk] = parseData(response);
  assert.ok(risk);
  return { ...risk, path: `/v1/projects/${risk.project_key}/risks/${risk.key}` };
}

export async function countPeople({ origin }: Server, dataset: Dataset): Promise<number> {
  const response = await fetchResponse(`${origin}/v1/personnel?limit=1&count=true`, authHeaders(dataset));
  return JSON.parse(response.body.toString()).page.total;
}

/** Checks that a write to one instance is visible in the next page that any other instance serves. */
export async function assertFreshReads(dataset: Dataset, services: Server[]): Promise<void> {
  for (let i = 0; i < 20; i++) {
    for (const [at, writer] of services.entries()) {
      const reader = services[(at + 1) % services.length] ?? writer;
      const { path } = firstRisk(await fetchPage(reader, dataset));
      const title = `Late again, ${crypto.randomUUID()}`;
      const written = await fetch(writer.origin + path, {
        method: 'PATCH',
        headers: { ...authHeaders(dataset), 'content-type': 'application/json' },
        body: JSON.stringify({ title }),
      });
      assert.equal(written.status, 200);
      assert.equal(firstRisk(await fetchPage(reader, dataset)).title, title, 'the next read sees the write');
    }
  }
}
