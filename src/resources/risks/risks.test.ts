import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runConcurrently } from '../../../test/concurrency.ts';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { levelOf, scoreOf } from './rules/scoring.ts';

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
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
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
    assert.deepEqual(
      body.data.map(({ rank }: Row) => rank),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    assert.equal(body.meta.unassessed, 2);
    assert.deepEqual(body.meta.filters, { archived: 'false', status: ['active'] });

    const first = await service.get('/v1/risks?limit=2', key);
    const second = await service.get(`/v1/risks?limit=2&cursor=${first.body.page.next_cursor}`, key);
    assert.deepEqual(
      [...first.body.data, ...second.body.data].map(({ rank }: Row) => rank),
      [1, 2, 3, 4],
    );
    assert.equal(second.body.meta.unassessed, 2);
  });

  test('assigns keys, and computes scores and levels by the scoring rules', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
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
    assert.equal(risk.key, 'APOLLO-R1');
    assert.equal(risk.project_name, 'Apollo');
    assert.deepEqual([risk.score, risk.level, risk.initial_score], [20, 'critical', 20]);
    assert.deepEqual([risk.residual_score, risk.residual_level], [6, 'medium']);
    assert.deepEqual([risk.owner_name, risk.owner_active, risk.raised_on], ['Ada', true, '2026-11-15']);
    assert.deepEqual([risk.issue_ids, risk.tasks_total, risk.tasks_done, risk.status], [[], 0, 0, 'open']);
    assert.deepEqual((await service.get('/v1/projects/APOLLO/risks/APOLLO-R1', key)).body, risk);
    assert.deepEqual((await service.get(`/v1/projects/${risk.project_id}/risks/${risk.id}`, key)).body, risk);

    const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'Late', risk_id: risk.id });
    const { body } = await service.get('/v1/risks', key);
    assert.deepEqual(body.data[0].issue_ids, [issue.id]);

    for (let probability = 1; probability <= 5; probability++) {
      for (let impact = 1; impact <= 5; impact++) {
        const created = await service.make('/v1/projects/APOLLO/risks', key, {
          title: 'x',
          probability,
          impact,
        });
        assert.equal(created.score, scoreOf(probability, impact));
        assert.equal(created.level, levelOf(created.score));
      }
    }
  });

  test('rejects a score, two owners, and references to missing resources', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const errors = async (body: object) => {
      const response = await service.post('/v1/projects/APOLLO/risks', key, { title: 'x', ...body });
      assert.equal(response.status, 422);
      return response.body.errors.map(
        ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`,
      );
    };
    assert.deepEqual(await errors({ score: 25 }), ['#/score unknown_field']);
    assert.deepEqual(await errors({ owner_user_id: user_id, owner_group_id: id }), [
      '#/owner_group_id two_owners',
    ]);
    assert.deepEqual(await errors({ due_on: '2026-11-14' }), ['#/due_on date_order']);
    assert.deepEqual(await errors({ owner_user_id: 'usr_00000000000000000000000000' }), [
      '#/owner_user_id unknown_reference',
    ]);
    assert.deepEqual(await errors({ status: 'closed' }), ['#/status enum']);
    assert.deepEqual(
      await errors({ probability: 1, impact: 2, residual_probability: 2, residual_impact: 2 }),
      ['#/residual_probability above_current'],
    );
    assert.equal((await service.post('/v1/projects/NOPE/risks', key, { title: 'x' })).status, 404);
    const { body } = await service.get('/v1/projects/APOLLO', key);
    assert.equal(
      (await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' })).key,
      'APOLLO-R1',
      body.key,
    );
  });

  test('each filter returns exactly the matching risks', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    const { ada, ops, riskIds } = await makeFilterable(service, key);
    const found = async (query: string) => titles((await service.get(`/v1/risks?${query}`, key)).body);

    assert.deepEqual(await found('project=GEMINI'), ['plain']);
    assert.deepEqual(await found('project_status=on_hold'), ['plain']);
    assert.deepEqual(await found('status=mitigating'), ['full']);
    assert.deepEqual(await found('status=closed'), ['closed']);
    assert.deepEqual(await found('status=closed,mitigating'), ['full', 'closed']);
    assert.deepEqual(await found('status=active,closed'), ['full', 'plain', 'closed', 'unassessed']);
    assert.deepEqual(await found('status=all'), ['full', 'plain', 'closed', 'unassessed']);
    assert.deepEqual(await found('level=critical,high'), ['full']);
    assert.deepEqual(await found('min_score=7'), ['full']);
    assert.deepEqual(await found('max_score=6'), ['plain']);
    assert.deepEqual(await found('probability=5'), ['full']);
    assert.deepEqual(await found('impact=3,4'), ['full', 'plain']);
    assert.deepEqual(await found('kind=opportunity'), ['plain']);
    assert.deepEqual(await found('category=supply'), ['full']);
    assert.deepEqual(await found('strategy=avoid'), ['full']);
    assert.deepEqual(await found(`owner_user_id=${ada}`), ['full']);
    assert.deepEqual(await found(`owner_group_id=${ops}`), ['plain']);
    assert.deepEqual(await found('unowned=true'), ['unassessed']);
    assert.deepEqual(await found('unowned=false'), ['full', 'plain']);
    assert.deepEqual(await found('assessed=true'), ['full', 'plain']);
    assert.deepEqual(await found('assessed=false'), ['unassessed']);
    assert.deepEqual(await found('above_appetite=true'), ['full']);
    assert.deepEqual(await found('above_appetite=false'), ['plain', 'unassessed']);
    assert.deepEqual(await found('review_overdue=true'), ['full']);
    assert.deepEqual(await found('review_overdue=false'), ['plain', 'unassessed']);
    assert.deepEqual(await found('due_before=2027-01-02'), ['full']);
    assert.deepEqual(await found('due_after=2027-01-01'), ['plain']);
    assert.deepEqual(await found('review_before=2026-11-15'), ['full']);
    assert.deepEqual(await found('review_after=2026-11-14'), ['plain']);
    assert.deepEqual(await found('raised_since=2026-11-15'), ['full', 'unassessed']);
    assert.deepEqual(await found('updated_since=2026-11-15T12:00:00.001Z'), []);
    assert.deepEqual(await found('external_id=x-1'), ['full']);
    assert.deepEqual(await found('q=geheimnisvoll'), ['full']);
    assert.deepEqual(await found('q=GEMINI-R1'), ['plain']);
    assert.deepEqual(await found('min_score=1&kind=threat&assessed=true'), ['full']);
    assert.equal(riskIds.length, 4);
  });

  test('two filters combined return the intersection of their results', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    const { ada, ops } = await makeFilterable(service, key);
    const filters = [
      ...['project=GEMINI', 'project_status=on_hold', 'level=critical,high', 'min_score=7', 'max_score=6'],
      ...[
        'probability=5',
        'impact=3',
        'kind=opportunity',
        'category=supply',
        'strategy=avoid',
        'unowned=false',
      ],
      ...['assessed=true', 'above_appetite=false', 'review_overdue=true', 'due_before=2027-01-02'],
      ...['due_after=2027-01-01', 'raised_since=2026-11-15', 'updated_since=2026-11-15T12:00:00Z'],
      ...[
        'external_id=x-1',
        'q=plain',
        'check=no_response_plan',
        `owner_user_id=${ada}`,
        `owner_group_id=${ops}`,
      ],
    ];
    const found = async (query: string) => titles((await service.get(`/v1/risks?${query}`, key)).body);
    const alone = new Map<string, string[]>();
    for (const filter of filters) alone.set(filter, await found(filter));
    for (const [i, one] of filters.entries()) {
      for (const other of filters.slice(i + 1)) {
        const both = alone.get(one)?.filter((title) => alone.get(other)?.includes(title));
        const query = `${one}&${other}`;
        const { status, body } = await service.get(`/v1/risks?${query}`, key);
        // The API rejects filters that exclude each other, such as a high level with a low score.
        if (status === 400) assert.deepEqual([body.code, both], ['invalid_parameter', []], query);
        else assert.deepEqual(titles(body), both, query);
      }
    }
  });

  test('supports other sort orders, without ranks', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
    await makeFilterable(service, key);
    const sorted = async (sort: string) => {
      const { body } = await service.get(`/v1/risks?sort=${sort}`, key);
      if (sort !== 'rank') assert.ok(body.data.every((row: Row) => row.rank === undefined));
      const { body: first } = await service.get(`/v1/risks?sort=${sort}&limit=1`, key);
      const { body: rest } = await service.get(
        `/v1/risks?sort=${sort}&limit=9&cursor=${first.page.next_cursor}`,
        key,
      );
      assert.deepEqual([...first.data, ...rest.data], body.data);
      return titles(body);
    };
    assert.deepEqual(await sorted('rank'), ['full', 'plain', 'unassessed']);
    assert.deepEqual(await sorted('-residual_score'), ['plain', 'full', 'unassessed']);
    assert.deepEqual(await sorted('due_on'), ['full', 'plain', 'unassessed']);
    assert.deepEqual(await sorted('raised_on'), ['plain', 'full', 'unassessed']);
    assert.equal((await sorted('-updated_at')).length, 3);
  });

  test('rejects invalid filters', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.read');
    const { user_id: owner } = await service.make('/v1/personnel', await service.key(), { name: 'Ada' });
    for (const query of [
      'min_score=9&max_score=3',
      'level=low&min_score=20',
      'probability=1&impact=2,3&level=critical',
      'assessed=false&impact=5',
      'due_before=2026-01-02&due_after=2026-01-01',
      'review_before=2026-01-02&review_after=2026-01-01',
      `unowned=true&owner_user_id=${owner}`,
      `owner_user_id=${newId('person')}`,
      `owner_group_id=${newId('group')}`,
      'project=NOPE',
      'level=huge',
      'unowned=1',
    ]) {
      const response = await service.get(`/v1/risks?${query}`, key);
      assert.equal(response.status, 400, query);
      assert.equal(response.body.code, 'invalid_parameter', query);
    }
    const possible = `level=critical&min_score=20&due_before=2026-01-03&due_after=2026-01-01&owner_user_id=${owner}`;
    assert.equal((await service.get(`/v1/risks?${possible}`, key)).status, 200);
  });

  test('one risk is found in any project by its id, or its key in any case', async (t) => {
    const service = await start(t);
    const key = await service.key();
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
    const changed = await service.call('PATCH', `/v1/risks/${id}`, key, { title: 'x' });
    assert.deepEqual([changed.status, changed.body.allowed], [405, ['GET', 'HEAD', 'OPTIONS']]);

    const limited = await service.limitedKey([gemini.id], 'projects.read');
    assert.equal((await service.get('/v1/risks/GEMINI-R1', limited)).status, 200);
    await service.make('/v1/projects/apollo/risks', key, { title: 'Hidden' });
    assert.equal((await service.get('/v1/risks/APOLLO-R1', limited)).status, 404);
  });

  test('ranks random risks in one total order; pages stay complete during concurrent writes', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key();
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
        const whole: Row[] = (await service.get(`/v1/risks?project=${project}`, key)).body.data;
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

  test('ranks on later pages reflect the current register, not the register at the time of the cursor', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const make = (probability: number) =>
      service.make('/v1/projects/APOLLO/risks', key, { title: String(probability), probability, impact: 1 });
    for (const probability of [1, 2, 3]) await make(probability);
    const first = (await service.get('/v1/risks?limit=2', key)).body;
    await make(5);
    const second = (await service.get(`/v1/risks?limit=2&cursor=${first.page.next_cursor}`, key)).body;
    assert.deepEqual(
      second.data.map(({ title, rank }: Row) => [title, rank]),
      [['1', 4]],
    );
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

async function makeFilterable(service: TestService, key: string) {
  const ada = (await service.make('/v1/personnel', key, { name: 'Ada' })).user_id;
  const ops = (await service.make('/v1/groups', key, { name: 'Ops' })).id;
  await service.make('/v1/projects', key, { name: 'Apollo' });
  await service.make('/v1/projects', key, { name: 'Gemini', status: 'on_hold' });
  const full = await service.make('/v1/projects/APOLLO/risks', key, {
    title: 'full',
    description: 'Geheimnisvöll',
    category: 'supply',
    probability: 5,
    impact: 4,
    residual_probability: 1,
    residual_impact: 1,
    status: 'mitigating',
    strategy: 'avoid',
    owner_user_id: ada,
    due_on: '2027-01-01',
    review_on: '2026-11-14',
    external_id: 'x-1',
  });
  const plain = await service.make('/v1/projects/GEMINI/risks', key, {
    title: 'plain',
    kind: 'opportunity',
    probability: 2,
    impact: 3,
    residual_probability: 2,
    residual_impact: 1,
    owner_group_id: ops,
    raised_on: '2026-11-01',
    due_on: '2027-01-02',
    review_on: '2026-11-15',
  });
  const unassessed = await service.make('/v1/projects/APOLLO/risks', key, { title: 'unassessed' });
  const closed = await service.make('/v1/projects/APOLLO/risks', key, {
    title: 'closed',
    probability: 1,
    impact: 1,
  });
  await service.database.write((db) =>
    db.updateTable('risks').set({ status: 'closed' }).where('id', '=', closed.id).execute(),
  );
  return { ada, ops, riskIds: [full, plain, unassessed, closed].map(({ id }) => id) };
}
