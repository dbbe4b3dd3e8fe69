import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillDataset } from '../../bench/dataset.ts';
import { onBothEngines, type TestService } from '../../test/service.ts';

/** Pages of more than 100 rows are read in slices. */
onBothEngines('a page that is read in slices', (start) => {
  test('has the same rows as shorter pages, in each order and format', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.database.write((db) =>
      fillDataset(db, { people: 700, projects: 3, risks: 700, issues: 10 }),
    );
    const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    for (const path of [
      '/v1/personnel?sort=-name',
      '/v1/personnel?q=a',
      '/v1/risks?count=true',
      '/v1/risks?sort=title',
      `/v1/risks?include=movement&since=${since}`,
    ]) {
      const short = await readPages(service, path, key, 75);
      const long = await readPages(service, path, key, 300);
      assert.ok(short.rows.length >= 600, `${path}: ${short.rows.length} rows`);
      assert.deepEqual(long, short, path);
    }
    for (const format of ['ndjson', 'csv']) {
      const whole = await service.get(`/v1/risks?format=${format}`, key);
      assert.equal((await service.get(`/v1/risks?limit=1000&format=${format}`, key)).text, whole.text);
    }
  });

  test('has an ETag of its content and a link to the next page', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.database.write((db) => fillDataset(db, { people: 700, projects: 1, risks: 1, issues: 1 }));
    const page = await service.get('/v1/personnel?limit=300', key);
    assert.match(page.headers.get('link') ?? '', /limit=300&cursor=.*; rel="next"/);
    const etag = page.headers.get('etag') ?? '';
    const again = await service.get('/v1/personnel?limit=300', key, { 'if-none-match': etag });
    assert.equal(again.status, 304);
  });
});

async function readPages(service: TestService, path: string, key: string, limit: number) {
  const rows: unknown[] = [];
  let total: number | null = null;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await service.get(`${path}&limit=${limit}${cursor && `&cursor=${cursor}`}`, key);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    rows.push(...body.data);
    total = body.page.total;
    cursor = body.page.next_cursor;
  }
  return { rows, total };
}
