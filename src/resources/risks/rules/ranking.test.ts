import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines } from '../../../../test/service.ts';
import { levels } from '../schema.ts';
import { cellPrefix, isUnassessed, rankKey, ranksAbove } from './ranking.ts';

type Row = {
  rank_key: string;
  probability: number;
  impact: number;
  due_on: string | null;
  raised_on: string;
  id: string;
};

onBothEngines('rank key', (start) => {
  test('filters by score and level find the risks in their range, for every cell of the matrix', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let probability = 1; probability <= 5; probability++) {
      for (let impact = 1; impact <= 5; impact++) {
        const due_on = impact % 2 ? { due_on: '2999-01-31' } : {};
        const body = { title: 'x', probability, impact, ...due_on };
        await service.make('/v1/projects/APOLLO/risks', key, body);
      }
    }
    const { db } = service.database;
    const rows = (await db.selectFrom('risks').selectAll().execute()) as Row[];
    for (const row of rows) {
      assert.equal(row.rank_key, rankKey(row));
      assert.ok(row.rank_key.startsWith(cellPrefix(row.probability, row.impact)));
    }
    const above = await db.selectFrom('risks').select('score').where(ranksAbove(sql`12`)).execute();
    assert.equal(above.length, rows.filter(({ probability, impact }) => probability * impact > 12).length);
    assert.ok(above.every(({ score }) => (score ?? 0) > 12));

    await service.make('/v1/projects/APOLLO/risks', key, { title: 'not assessed' });
    const found = async (query: string) =>
      (await service.get(`/v1/risks?${query}`, key)).body.data.map(({ id }: Row) => id).sort();
    const idsOf = (matches: (score: number) => boolean) =>
      rows
        .filter(({ probability, impact }) => matches(probability * impact))
        .map(({ id }) => id)
        .sort();
    for (let bound = 1; bound <= 25; bound++) {
      const atLeast = idsOf((score) => score >= bound);
      const atMost = idsOf((score) => score <= bound);
      assert.deepEqual(await found(`min_score=${bound}`), atLeast, `at least ${bound}`);
      assert.deepEqual(await found(`max_score=${bound}`), atMost, `at most ${bound}`);
    }
    for (const { level, from, to } of levels) {
      const ofLevel = idsOf((score) => score >= from && score <= to);
      assert.deepEqual(await found(`level=${level}`), ofLevel, level);
    }
    const ends = idsOf((score) => score <= 5 || score >= 20);
    assert.deepEqual(await found('level=low,critical'), ends);
  });

  test('an unassessed risk is recognized by its rank key', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'assessed', probability: 1, impact: 1 });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'half', probability: 1 });
    const { db } = service.database;
    const rows = await db.selectFrom('risks').select('title').where(isUnassessed).execute();
    assert.deepEqual(rows, [{ title: 'half' }]);
  });
});
