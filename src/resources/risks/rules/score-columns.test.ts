import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines, pluck, withKey } from '../../../../test/service.ts';
import { checkCommand } from '../../../commands/check.ts';
import { jsonItems } from '../../../database/sql/functions.ts';
import { firstModel } from '../../../store/risk-model.ts';
import { describeModel } from './model.ts';
import { cellPrefix, rankKey, ranksAbove } from './ranking.ts';
import { scoreColumns, scoreExpressions } from './score-columns.ts';

type Row = Parameters<typeof scoreColumns>[1];

type RankedRow = {
  rank_key: string;
  probability: number;
  impact: number;
  due_on: string | null;
  raised_on: string;
  id: string;
};

const ratings = [null, 1, 2, 3, 4, 5];

onBothEngines('columns that follow from ratings', (start) => {
  test('the database and the service compute the same', async (t) => {
    const { database } = await start(t);
    const rows: Row[] = ratings.flatMap((probability) =>
      ratings.flatMap((impact) =>
        ratings.flatMap((residual_probability) =>
          ratings.map((residual_impact) => ({
            id: `rsk_${probability}${impact}${residual_probability}${residual_impact}`,
            probability,
            impact,
            residual_probability,
            residual_impact,
            due_on: residual_impact === 2 ? null : `2027-01-0${impact ?? 9}`,
            raised_on: '2026-11-17',
          })),
        ),
      ),
    );
    const texts = ['id', 'due_on', 'raised_on'] as const;
    const integers = ['probability', 'impact', 'residual_probability', 'residual_impact'] as const;
    const source = sql.join([
      ...texts.map((name) => sql`items.value ->> ${sql.lit(name)} as ${sql.ref(name)}`),
      ...integers.map((name) => sql`cast(items.value ->> ${sql.lit(name)} as integer) as ${sql.ref(name)}`),
    ]);
    const computed = Object.entries(scoreExpressions(firstModel)).map(
      ([name, expression]) => sql`${expression} as ${sql.ref(name)}`,
    );
    const found = await sql<Row>`
      select id, ${sql.join(computed)}
      from (select ${source} from ${jsonItems(sql`${JSON.stringify(rows)}`)} as items) as risks`.execute(
      database.db,
    );
    const byId = new Map(found.rows.map((row) => [row.id, row]));
    assert.equal(byId.size, 6 ** 4);
    for (const row of rows)
      assert.deepEqual({ ...byId.get(row.id) }, { id: row.id, ...scoreColumns(firstModel, row) });
  });

  test('everything that writes a risk writes them', async (t) => {
    const { key: createKey, make, post, call, database } = await start(t);
    const key = await createKey();
    await make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/risks';
    const rated = { probability: 3, impact: 4, residual_probability: 1, residual_impact: 2 };
    const risks = [];
    for (const body of [rated, {}, { impact: 2 }, { probability: 5, impact: 5, due_on: '2099-01-31' }])
      risks.push(await make(path, key, { title: 'Risk', ...body }));
    const patch = async (id: string, body: object) =>
      assert.equal((await call('PATCH', `${path}/${id}`, key, body)).status, 200);
    await patch(risks[0].id, { impact: 5 });
    await patch(risks[0].id, { residual_impact: 1, title: 'Renamed' });
    await patch(risks[1].id, { due_on: '2099-02-28', raised_on: '2026-01-31' });
    const bulk = async (items: object[], changes = {}) =>
      assert.equal((await post('/v1/bulk/risks', key, { items, changes })).status, 200);
    const items = risks.map(({ id }) => ({ id }));
    await bulk(items, { probability: 2 });
    await bulk(items, { impact: null, due_on: '2099-03-31' });
    await bulk(items.map((item, i) => ({ ...item, changes: { impact: i + 1, title: `Risk ${i}` } })));
    await bulk(items, { due_on: null, residual_probability: null });
    const file = 'external_id,title,probability,impact\na,Imported,4,4\nb,Imported,,\n';
    for (const content of [file, file.replaceAll('4,4', '5,1').replace('b,Imported,,', 'b,Imported,2,2')]) {
      const csv = { 'content-type': 'text/csv' };
      const imported = await call('POST', `${path}/import?mode=upsert`, key, content, csv);
      assert.equal(imported.body.summary.failed, 0, imported.text);
    }
    assert.equal((await post(`${path}/${risks[3].id}/materialize`, key, {})).status, 201);
    assert.equal((await call('DELETE', `${path}/${risks[2].id}`, key)).status, 204);
    const stored = [
      ...(await database.db.selectFrom('risks').selectAll().execute()),
      ...(await database.db.selectFrom('past_risks').selectAll().execute()),
    ];
    assert.ok(stored.length > 20);
    for (const row of stored) {
      const { score, level, residual_score, residual_level, rank_key } = row;
      assert.deepEqual(
        { score, level, residual_score, residual_level, rank_key },
        scoreColumns(firstModel, row),
        row.key,
      );
    }
    assert.deepEqual((await checkCommand(database, () => {})).violations, []);
  });

  test('filters by score and level find the risks in their range, for every cell of the matrix', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let probability = 1; probability <= 5; probability++) {
      for (let impact = 1; impact <= 5; impact++) {
        const due_on = impact % 2 ? { due_on: '2999-01-31' } : {};
        const body = { title: 'x', probability, impact, ...due_on };
        await service.make('/v1/projects/APOLLO/risks', key, body);
      }
    }
    const { db } = service.database;
    const rows = (await db.selectFrom('risks').selectAll().execute()) as RankedRow[];
    for (const row of rows) {
      assert.equal(row.rank_key, rankKey(row));
      assert.ok(row.rank_key.startsWith(cellPrefix(row.probability, row.impact)));
    }
    const above = await db.selectFrom('risks').select('score').where(ranksAbove(sql`12`)).execute();
    assert.equal(above.length, rows.filter(({ probability, impact }) => probability * impact > 12).length);
    assert.ok(above.every(({ score }) => (score ?? 0) > 12));

    await service.make('/v1/projects/APOLLO/risks', key, { title: 'not assessed' });
    const found = async (query: string) => pluck(await service.list(`/v1/risks?${query}`, key), 'id').sort();
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
    for (const { level, from, to } of describeModel(firstModel).levels) {
      const ofLevel = idsOf((score) => score >= from && score <= to);
      assert.deepEqual(await found(`level=${level}`), ofLevel, level);
    }
    const ends = idsOf((score) => score <= 5 || score >= 20);
    assert.deepEqual(await found('level=low,critical'), ends);
  });
});
