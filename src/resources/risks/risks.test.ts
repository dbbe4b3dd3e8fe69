import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runConcurrently } from '../../../test/concurrency.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

type Row = {
  id: string;
  title: string;
  rank?: number;
  score: number | null;
  level: string | null;
  impact: number | null;
  probability: number | null;
  due_on: string | null;
  raised_on: string;
};

onBothEngines('risks', (start) => {
  test('ranks risks of three projects in one register, highest first; unassessed risks come last and are counted', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    for (const name of ['Apollo', 'Gemini', 'Mercury']) await service.make('/v1/projects', key, { name });
    await createInOrder(service, key, [
      ['APOLLO', { title: 'lower impact at the same score', probability: 5, impact: 4 }],
      ['GEMINI', { title: 'not assessed' }],
      ['MERCURY', { title: 'first', probability: 5, impact: 5 }],
      ['GEMINI', { title: 'higher impact at the same score', probability: 4, impact: 5 }],
      ['APOLLO', { title: 'without a due day', probability: 3, impact: 3 }],
      ['MERCURY', { title: 'due later', probability: 3, impact: 3, due_on: '2027-02-01' }],
      ['GEMINI', { title: 'due sooner', probability: 3, impact: 3, due_on: '2027-01-01' }],
      [
        'APOLLO',
        {
          title: 'raised long ago',
          probability: 3,
          impact: 3,
          due_on: '2027-02-01',
          raised_on: '2026-01-01',
        },
      ],
      ['APOLLO', { title: 'half assessed', impact: 5 }],
    ]);
    const { body } = await service.get('/v1/risks', await service.key('projects.read'));
    assert.deepEqual(titles(body), [
      'first',
      'higher impact at the same score',
      'lower impact at the same score',
      'due sooner',
      'raised long ago',
      'due later',
      'without a due day',
      'half assessed',
      'not assessed',
    ]);
    assert.deepEqual(pluck(body.data, 'rank'), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(body.meta.unassessed, 2);
    assert.deepEqual(body.meta.filters, { archived: 'false', status: ['active'] });

    const first = await service.get('/v1/risks?limit=2', key);
    const second = await service.get(`/v1/risks?limit=2&cursor=${first.body.page.next_cursor}`, key);
    assert.deepEqual(pluck([...first.body.data, ...second.body.data], 'rank'), [1, 2, 3, 4]);
    assert.equal(second.body.meta.unassessed, 2);
    const [byDate] = await service.list('/v1/risks?sort=due_on', key);
    assert.equal(byDate.rank, undefined);
  });

  test('assigns keys, and computes scores and levels by the scoring rules', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, {
      title: 'Valves',
      probability: 4,
      impact: 5,
      residual_probability: 2,
      residual_impact: 3,
      owner_user_id: ada.user_id,
    });
    assert.deepEqual([risk.key, risk.project_name], ['APOLLO-R1', 'Apollo']);
    assert.deepEqual([risk.score, risk.level, risk.initial_score], [20, 'critical', 20]);
    assert.deepEqual([risk.residual_score, risk.residual_level], [6, 'medium']);
    assert.deepEqual([risk.owner_name, risk.owner_active, risk.raised_on], ['Ada', true, '2026-11-15']);
    assert.deepEqual([risk.issue_ids, risk.tasks_total, risk.tasks_done, risk.status], [[], 0, 0, 'open']);
    assert.deepEqual((await service.get('/v1/projects/APOLLO/risks/APOLLO-R1', key)).body, risk);
    assert.deepEqual((await service.get(`/v1/projects/${risk.project_id}/risks/${risk.id}`, key)).body, risk);

    const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'Late', risk_id: risk.id });
    const { body } = await service.get('/v1/risks', key);
    assert.deepEqual(body.data[0].issue_ids, [issue.id]);
  });

  test('one risk is found in any project by its id, or its key in any case', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const gemini = await service.make('/v1/projects', key, { name: 'Gemini' });
    const { id } = await service.make('/v1/projects/gemini/risks', key, { title: 'Leak' });
    const expected = await service.get(`/v1/projects/GEMINI/risks/${id}`, key);
    for (const path of [
      `/v1/risks/${id}`,
      '/v1/risks/GEMINI-R1',
      '/v1/risks/gemini-r1',
      '/v1/projects/gemini/risks/gemini-R1',
    ]) {
      const { status, body, headers } = await service.get(path, key);
      assert.deepEqual(
        [status, body, headers.get('etag')],
        [200, expected.body, expected.headers.get('etag')],
        path,
      );
    }
    assert.equal((await service.get('/v1/risks?project=gemini', key)).body.page.total, 1);
    assert.equal((await service.get('/v1/risks/GEMINI-R1?explain=true', key)).body.explain.rank, 1);
    assert.equal((await service.get('/v1/risks/GEMINI-R2', key)).status, 404);
    const changed = await service.patch(`/v1/risks/${id}`, key, { title: 'x' });
    assert.deepEqual([changed.status, changed.body.allowed], [405, ['GET', 'HEAD', 'OPTIONS']]);

    const limited = await service.limitedKey([gemini.id], 'projects.read');
    assert.equal((await service.get('/v1/risks/GEMINI-R1', limited)).status, 200);
    await service.make('/v1/projects/apollo/risks', key, { title: 'Hidden' });
    assert.equal((await service.get('/v1/risks/APOLLO-R1', limited)).status, 404);
  });

  test('ranks random risks in one total order; pages stay complete during concurrent writes', async (t) => {
    const { service, key } = await withKey(start(t, { clock }));
    const rating = fc.option(fc.integer({ min: 1, max: 5 }));
    const day = fc.integer({ min: 1, max: 9 }).map((n) => `2026-10-0${n}`);
    const risk = fc.record({ probability: rating, impact: rating, due_on: fc.option(day), raised_on: day });
    const cases = fc.record({
      risks: fc.array(risk, { minLength: 1, maxLength: 25 }),
      written: fc.array(risk, { maxLength: 10 }),
      limit: fc.integer({ min: 1, max: 7 }),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ risks, written, limit }) => {
        const project = `P${++run}`;
        await service.make('/v1/projects', key, { name: project, key: project });
        const path = `/v1/projects/${project}/risks`;
        const make = (body: object) => service.make(path, key, { title: 'x', ...bothDays(body) });
        await runConcurrently(risks, make, 4);
        const whole: Row[] = await service.list(`/v1/risks?project=${project}`, key);
        assert.deepEqual(whole.map(identity), [...whole].sort(compareRisks).map(identity));
        assert.deepEqual(
          whole.map(({ rank }) => rank),
          whole.map((_, i) => i + 1),
        );

        const seen: Row[] = [];
        const toWrite = [...written];
        for (let cursor = ''; ; ) {
          const { body } = await service.get(`/v1/risks?project=${project}&limit=${limit}${cursor}`, key);
          seen.push(...body.data);
          if (!body.page.has_more) break;
          const next = toWrite.pop();
          if (next) await make(next);
          cursor = `&cursor=${body.page.next_cursor}`;
        }
        const ids = seen.map(identity);
        assert.equal(new Set(ids).size, ids.length, 'no row twice');
        for (const { id } of whole) assert.ok(ids.includes(id), 'no row skipped');
        assert.deepEqual(ids, [...seen].sort(compareRisks).map(identity));
        assert.deepEqual(
          seen.map(({ rank }) => rank),
          [...seen].map(({ rank }) => rank).sort((a, b) => Number(a) - Number(b)),
          'ranks grow from page to page',
        );
      }),
      { numRuns: 15 },
    );
  });

  test('are explained as they are at one moment, while others are added and deleted', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/risks';
    const make = (impact: number) => service.make(path, key, { title: 'x', probability: 1, impact });
    for (let round = 0; round < 5; round++) {
      const risks = await Promise.all([5, 4, 1].map(make));
      const last = risks.at(-1)?.id;
      const responses = await Promise.all([
        ...Array.from({ length: 4 }, () => service.get(`/v1/risks/${last}?explain=true`, key)),
        ...risks.map(({ id }) => service.delete(`${path}/${id}`, key).then(() => undefined)),
        ...Array.from({ length: 4 }, () => service.get(`/v1/risks/${last}?explain=true`, key)),
      ]);
      for (const response of responses.filter((one) => one !== undefined)) {
        if (response.status === 404) continue;
        assert.equal(response.status, 200, response.text);
        const { rank, of } = response.body.explain;
        assert.ok(rank !== null && rank <= of, response.text);
      }
    }
  });

  test('ranks on later pages reflect the current register, not the register at the time of the cursor', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const make = (probability: number) =>
      service.make('/v1/projects/APOLLO/risks', key, { title: String(probability), probability, impact: 1 });
    for (const probability of [1, 2, 3]) await make(probability);
    const first = (await service.get('/v1/risks?limit=2', key)).body;
    await make(5);
    const second = (await service.get(`/v1/risks?limit=2&cursor=${first.page.next_cursor}`, key)).body;
    assert.deepEqual(pluck(second.data, 'title', 'rank'), [['1', 4]]);
  });
});

const identity = ({ id }: Row) => id;
const titles = (body: { data: Row[] }) => body.data.map(({ title }) => title);

/** `due_on` must not be before `raised_on`. */
const bothDays = (body: { due_on?: string | null; raised_on?: string }) =>
  body.due_on && body.raised_on && body.due_on < body.raised_on ? { ...body, raised_on: body.due_on } : body;

/** A naive implementation of the documented ranking. */
function compareRisks(a: Row, b: Row): number {
  return (
    (b.score ?? 0) - (a.score ?? 0) ||
    (b.impact ?? 0) - (a.impact ?? 0) ||
    (b.probability ?? 0) - (a.probability ?? 0) ||
    compareTexts(a.due_on ?? '9999', b.due_on ?? '9999') ||
    compareTexts(a.raised_on, b.raised_on) ||
    compareTexts(a.id, b.id)
  );
}

const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

async function createInOrder(service: TestService, key: string, risks: [string, object][]) {
  for (const [project, body] of risks) await service.make(`/v1/projects/${project}/risks`, key, body);
}
