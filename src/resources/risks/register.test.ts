import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, withKey } from '../../../test/service.ts';
import { registerRows } from './register.ts';

type Row = { key: string; rank: number; score: number; movement: object; checks: string[]; title: string };

onBothEngines('the register', (start) => {
  test('returns past registers, movement since a day, and the trend', async (t) => {
    const clock = settableClock('2026-11-01T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    const get = async (path: string) => (await service.get(path, key)).body;
    const make = (title: string, probability: number, impact: number, project = 'APOLLO') =>
      service.make(`/v1/projects/${project}/risks`, key, { title, probability, impact });
    const patch = async (risk: { key: string }, body: object) => {
      const response = await service.patch(`/v1/projects/APOLLO/risks/${risk.key}`, key, body);
      assert.equal(response.status, 200, response.text);
    };
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    const rising = await make('rising', 1, 1);
    const falling = await make('falling', 5, 5);
    const gone = await make('gone', 3, 3);
    await make('archived later', 4, 4, 'GEMINI');
    clock.set('2026-11-05T12:00:00Z');
    await patch(rising, { probability: 5, impact: 4, reason: 'The supplier is late.' });
    await patch(falling, { probability: 1 });
    await service.delete(`/v1/projects/APOLLO/risks/${gone.key}`, key);
    await service.post('/v1/projects/GEMINI/archive', key, undefined);
    clock.set('2026-11-10T12:00:00Z');
    await make('new', 2, 2);
    await patch(falling, { status: 'closed', closure_reason: 'Over.' });
    clock.set('2026-11-15T12:00:00Z');

    const titles = async (query: string) => pluck((await get(`/v1/risks${query}`)).data, 'title');
    assert.deepEqual(await titles('?as_of=2026-10-31'), []);
    assert.deepEqual(await titles('?as_of=2026-11-01'), ['falling', 'archived later', 'gone', 'rising']);
    assert.deepEqual(await titles('?as_of=2026-11-04'), ['falling', 'archived later', 'gone', 'rising']);
    assert.deepEqual(await titles('?as_of=2026-11-05'), ['rising', 'falling']);
    assert.deepEqual(await titles('?as_of=2026-11-05&archived=any'), ['rising', 'archived later', 'falling']);
    assert.deepEqual(await titles('?as_of=2026-11-15'), ['rising', 'new']);
    assert.deepEqual(await titles('?as_of=2026-11-04&min_score=10'), ['falling', 'archived later']);
    assert.equal((await get('/v1/risks?as_of=2026-11-04&limit=1')).meta.as_of, '2026-11-04');
    assert.equal((await service.get('/v1/risks?as_of=2026-11-16', key)).status, 400);

    const reason = 'The supplier is late.';
    for (const limit of ['&limit=10', '']) {
      const moved = await get(`/v1/risks?include=movement&since=2026-11-04${limit}`);
      assert.deepEqual(pluck(moved.data, 'title', 'rank', 'movement'), [
        ['rising', 1, { rank_then: 4, score_then: 1, delta: 3, reason }],
        ['new', 2, { rank_then: null, score_then: null, delta: null, reason: null }],
      ]);
      const earlier = await get(`/v1/risks?include=movement&as_of=2026-11-04&since=2026-11-04${limit}`);
      assert.deepEqual(new Set(pluck(earlier.data, 'movement.reason')), new Set([null]));
      const later = await get(`/v1/risks?include=movement&since=2026-11-06${limit}`);
      assert.deepEqual(pluck(later.data, 'movement.reason'), [null, null]);
    }
    const critical = await get('/v1/risks?level=critical&include=movement&since=2026-11-04&limit=10');
    assert.deepEqual(pluck(critical.data, 'title', 'movement'), [
      ['rising', { rank_then: null, score_then: 1, delta: null, reason }],
    ]);
    assert.equal((await service.get('/v1/risks?include=movement', key)).status, 400);
    assert.equal((await service.get('/v1/risks?since=2026-11-04', key)).status, 400);

    const changed = (query: string) => titles(`?since=2026-11-04&status=all&${query}`);
    assert.deepEqual(await changed('change=up'), ['rising']);
    assert.deepEqual(await changed('change=down'), ['falling']);
    assert.deepEqual(await changed('change=new'), ['new']);
    // Frequent changes are found in another way than rare ones.
    const before = '2026-11-05T00:00:00.000Z';
    for (const [change, title] of [
      ['up', 'rising'],
      ['down', 'falling'],
      ['new', 'new'],
    ] as const) {
      for (const isRare of [true, false]) {
        const filters = { status: ['all'], change: { any: [change], before, isRare } };
        const rows = registerRows(service.database.db, { filters, moment: clock() } as never);
        assert.deepEqual(pluck(await rows.select('risks.title').execute(), 'title'), [title]);
      }
    }
    assert.deepEqual(await changed('change=down,new'), ['falling', 'new']);
    assert.deepEqual(await changed('change=up,down&as_of=2026-11-04'), []);
    assert.deepEqual(await changed('change=up,down&as_of=2026-11-05'), ['rising', 'falling']);
    assert.deepEqual(await titles('?since=2026-11-05&change=up,down'), []);
    assert.deepEqual(await changed('sort=-change'), ['rising', 'falling', 'new']);
    assert.deepEqual(await changed('sort=change'), ['falling', 'rising', 'new']);
    const { data: summary } = await get('/v1/risks/summary?since=2026-11-04&change=up,down');
    assert.equal(summary.total, 1);
    const first = await get('/v1/risks?since=2026-11-04&sort=change&limit=1&count=true');
    const { data: rest } = await get(
      `/v1/risks?since=2026-11-04&sort=change&limit=1&cursor=${first.page.next_cursor}`,
    );
    assert.deepEqual(
      [first.page.total, pluck(first.data, 'title'), pluck(rest, 'title')],
      [2, ['rising'], ['new']],
    );
    for (const query of ['change=up', 'sort=change'])
      assert.equal((await service.get(`/v1/risks?${query}`, key)).status, 400, query);

    const { data } = await get('/v1/risks/trend?from=2026-11-04&to=2026-11-11&interval=day');
    assert.deepEqual(
      data.map(({ day, count, sum }: { day: string; count: number; sum: number }) => [
        day.slice(-2),
        count,
        sum,
      ]),
      [
        ['04', 4, 51],
        ['05', 2, 25],
        ['06', 2, 25],
        ['07', 2, 25],
        ['08', 2, 25],
        ['09', 2, 25],
        ['10', 2, 24],
        ['11', 2, 24],
      ],
    );
    assert.deepEqual(data[0], {
      day: '2026-11-04',
      count: 4,
      low: 1,
      medium: 1,
      high: 1,
      critical: 1,
      very_low: 0,
      unassessed: 0,
      sum: 51,
      sum_by_level: { very_low: 0, low: 1, medium: 9, high: 16, critical: 25 },
      average: 12.75,
      model_version: 1,
    });
    const weeks = await get('/v1/risks/trend?from=2026-11-01&to=2026-11-15&interval=week');
    assert.deepEqual(pluck(weeks.data, 'day'), ['2026-11-01', '2026-11-08', '2026-11-15']);
    assert.equal((await service.get('/v1/risks/trend?from=2020-01-01', key)).status, 400);
    assert.equal((await service.get('/v1/risks/trend?from=2026-11-05&to=2026-11-01', key)).status, 400);
  });

  test('counts risks in a heat map of 25 cells and in a summary', async (t) => {
    const { service, key } = await withKey(start(t));
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', key, { name });
    const make = (project: string, body: object) =>
      service.make(`/v1/projects/${project}/risks`, key, { title: 'x', ...body });
    const first = await make('APOLLO', {
      probability: 5,
      impact: 4,
      category: 'supply',
      owner_user_id: ada.user_id,
    });
    await make('GEMINI', { probability: 5, impact: 4, category: 'supply' });
    await make('GEMINI', { probability: 4, impact: 5 });
    await make('GEMINI', {});

    const { body: map } = await service.get('/v1/risks/heatmap', key);
    assert.equal(map.data.length, 25);
    const cell = (probability: number, impact: number) =>
      map.data.find(
        (one: { probability: number; impact: number }) =>
          one.probability === probability && one.impact === impact,
      );
    assert.deepEqual([cell(5, 4).count, cell(5, 4).level, cell(5, 4).top.length], [2, 'critical', 2]);
    assert.equal(cell(5, 4).top[0], first.id);
    assert.deepEqual([cell(4, 5).count, cell(1, 1).count, cell(1, 1).top], [1, 0, []]);
    assert.deepEqual(map.meta.filters, { archived: 'false', status: ['active'] });

    const { body: summary } = await service.get('/v1/risks/summary', key);
    const { data } = summary;
    assert.deepEqual([data.total, data.unassessed], [4, 1]);
    assert.deepEqual(pluck(data.by_level, 'level'), ['critical', 'high', 'medium', 'low']);
    assert.deepEqual(pluck(data.by_level, 'count'), [3, 0, 0, 0]);
    assert.deepEqual(data.by_status, [{ status: 'open', count: 4 }]);
    assert.deepEqual(pluck(data.by_category, 'category', 'count').flat(), ['supply', 2, null, 2]);
    assert.deepEqual(pluck(data.by_project, 'project_key', 'count').flat(), ['GEMINI', 3, 'APOLLO', 1]);
    assert.deepEqual(pluck(data.by_owner, 'owner_name', 'count').flat(), [null, 3, 'Ada', 1]);
    assert.equal(data.by_check.find((row: { check: string }) => row.check === 'unowned').count, 3);
    const onlyApollo = await service.get('/v1/risks/heatmap?project=APOLLO', key);
    const total = onlyApollo.body.data.reduce((sum: number, one: { count: number }) => sum + one.count, 0);
    assert.equal(total, 1);
    const again = await service.get('/v1/risks/summary', key, {
      'if-none-match': String((await service.get('/v1/risks/summary', key)).headers.get('etag')),
    });
    assert.equal(again.status, 304);
  });

  test('lists the checks that flag each risk, and filters by them', async (t) => {
    const clock = settableClock('2026-07-01T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const sound = {
      probability: 2,
      impact: 2,
      owner_user_id: ada.user_id,
      response_plan: 'Wait.',
      review_on: '2027-01-01',
      due_on: '2027-01-01',
    };
    const make = (title: string, body: object = {}) =>
      service.make('/v1/projects/APOLLO/risks', key, { title, ...sound, ...body });
    await make('stale_90d');
    clock.set('2026-11-15T12:00:00Z');
    await make('sound');
    await make('unassessed', { probability: null });
    await make('unowned', { owner_user_id: null });
    await make('review_overdue', { review_on: '2026-11-14' });
    await make('due_overdue', { raised_on: '2026-01-01', due_on: '2026-11-14' });
    await make('no_response_plan', { response_plan: null });
    const lowered = await make('residual_above_current', {
      probability: 3,
      impact: 3,
      residual_probability: 3,
      residual_impact: 3,
    });
    await service.patch(`/v1/projects/APOLLO/risks/${lowered.key}`, key, { probability: 1 });
    await make('above_appetite', { probability: 5, impact: 5 });
    const accepted = await make('acceptance_expiring');
    await service.patch(`/v1/projects/APOLLO/risks/${accepted.key}`, key, {
      status: 'accepted',
      acceptance_reason: 'Insured.',
      accepted_until: '2026-12-15',
    });
    const gone = await service.make('/v1/personnel', key, { name: 'Gone' });
    await make('owner_inactive', { owner_user_id: gone.user_id });
    await service.database.write((db) =>
      db.updateTable('people').set({ status: 'inactive' }).where('user_id', '=', gone.user_id).execute(),
    );

    const { body } = await service.get('/v1/risks', key);
    for (const { title, checks } of body.data as Row[])
      assert.deepEqual(checks, title === 'sound' ? [] : [title]);
    for (const { title } of body.data as Row[]) {
      if (title === 'sound') continue;
      const found = await service.get(`/v1/risks?check=${title}`, key);
      assert.deepEqual(pluck(found.body.data, 'title'), [title]);
    }
    assert.equal((await service.get('/v1/risks?check=unowned,unassessed', key)).body.page.total, 0);
  });

  test('returns the scoring rules, evaluates a hypothetical risk, and explains a rank', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    const reader = await service.key('projects.read');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, {
      title: 'x',
      probability: 3,
      impact: 4,
    });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'y', probability: 1, impact: 1 });
    const model = (await service.get('/v1/risk-model', reader)).body;
    assert.deepEqual(model.transitions.risks.accepted, ['open', 'mitigating', 'materialized', 'closed']);
    assert.deepEqual(model.transitions.issues.resolved, ['closed', 'in_progress']);
    assert.equal(model.probability.length, 5);
    assert.deepEqual(pluck(model.levels, 'level', 'from', 'to'), [
      ['low', 1, 5],
      ['medium', 6, 11],
      ['high', 12, 19],
      ['critical', 20, 25],
    ]);

    const evaluate = (probability: number, impact: number) =>
      service.post('/v1/risks/evaluate', reader, { probability, impact });
    const evaluated = { score: 25, level: 'critical', rank: 1, of: 3 };
    assert.deepEqual((await evaluate(5, 5)).body, evaluated);
    assert.deepEqual((await evaluate(3, 4)).body, { ...evaluated, score: 12, level: 'high', rank: 2 });
    assert.deepEqual((await evaluate(1, 1)).body, { ...evaluated, score: 1, level: 'low', rank: 3 });
    assert.equal((await evaluate(6, 1)).status, 422);
    assert.equal((await service.get('/v1/risks', key)).body.page.total, 2);

    await service.patch(`/v1/projects/APOLLO/risks/${risk.key}`, key, { impact: 5 });
    const { body } = await service.get(`/v1/projects/APOLLO/risks/${risk.key}?explain=true`, key);
    const { explain } = body;
    assert.deepEqual(
      [explain.score, explain.level, explain.level_bounds],
      [15, 'high', { from: 12, to: 19 }],
    );
    assert.equal(explain.inputs.impact.value, 5);
    const ranked = await service.get('/v1/risks', key);
    const place = ranked.body.data.find(({ id }: { id: string }) => id === risk.id);
    assert.deepEqual([explain.rank, explain.of], [place.rank, ranked.body.page.total]);
    assert.equal(
      explain.text,
      `possible (3) × severe (5) = 15, which is high (12 to 19). Rank ${place.rank} of 2: 0 risks come before it.`,
    );
    assert.equal(explain.inputs.impact.set_by, 'projects.manage');
    assert.ok(explain.inputs.impact.set_at >= explain.inputs.probability.set_at);
  });

  test('the next read shows a renamed owner and a changed score', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, {
      title: 'x',
      probability: 1,
      impact: 1,
      owner_user_id: ada.user_id,
    });
    const first = async () => (await service.list('/v1/risks?limit=1', key))[0];
    assert.deepEqual([(await first()).owner_name, (await first()).score], ['Ada', 1]);
    await service.database.write((db) =>
      db.updateTable('people').set({ name: 'Ada King' }).where('user_id', '=', ada.user_id).execute(),
    );
    await service.patch(`/v1/projects/APOLLO/risks/${risk.key}`, key, { impact: 5 });
    assert.deepEqual([(await first()).owner_name, (await first()).score], ['Ada King', 5]);
  });
});
