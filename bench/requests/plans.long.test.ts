import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledQuery } from 'kysely';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openDatabase } from '../../src/store/open.ts';
import { freshDatabase } from '../../test/databases.ts';
import { nodeScript, run } from '../processes.ts';
import { sweep } from './requests.ts';

const sizes = { projects: 100, people: 5000, risks: 30_000, issues: 10_000, tasks: 10_000 };

/** Reads all rows of a large table, not of an index that has the needed columns. */
const wholeTable = {
  sqlite: /^SCAN (risks|issues|tasks|people)(?! USING)/m,
  postgres: /Seq Scan on (risks|issues|tasks|people)\b/,
};

/**
 * What no index serves: descriptions, the registers of past days, and orders and filters of people, whose table is small
 * enough.
 */
const isExempt = (request: string) => /search=all|as_of=|include=movement|\/personnel\?/.test(request);

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`lists read no whole table, whatever the order and the filter, on ${engine}`, async (t) => {
    const { url, drop } = await freshDatabase(engine);
    t.after(drop);
    const key = (await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })))).trim();
    const statements: CompiledQuery[] = [];
    const database = openDatabase(url, undefined, {}, ({ query }) => statements.push(query));
    const config = readConfig({
      MUSTER_DATABASE_URL: url,
      MUSTER_CACHE_MB: '0',
      MUSTER_RATE_LIMIT: '0',
    });
    const app = await createApp({ config, database, clock: systemClock, readiness: { state: 'ready' } });
    t.after(() => app.close());
    const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
    let explained = 0;
    for (const request of sweep()) {
      statements.length = 0;
      const { statusCode } = await app.inject({ url: request, headers: { authorization: `Bearer ${key}` } });
      assert.equal(statusCode, 200, request);
      if (!/^\/v1\/(risks|issues|tasks)\?/.test(request) || isExempt(request)) continue;
      for (const { sql: text, parameters } of statements.splice(0)) {
        if (!/^select\b/.test(text) || !/"(risks|issues|tasks)"/.test(text)) continue;
        // Where such a list is read.
        const { db, end } = await database.snapshot('slow');
        const { rows } = await db
          .executeQuery<object>(CompiledQuery.raw(`${explain} ${text}`, [...parameters]))
          .finally(end);
        const plan = rows.map((row) => ('detail' in row ? row.detail : Object.values(row)[0])).join('\n');
        assert.doesNotMatch(plan, wholeTable[engine], `${request}\n${text}\n${plan}`);
        explained++;
      }
    }
    assert.ok(explained > 150, `${explained} plans`);
  });
}
