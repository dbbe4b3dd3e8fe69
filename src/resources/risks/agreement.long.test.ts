import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { settableClock } from '../../../test/clock.ts';
import { plainLevel, plainRanking, riskModels } from '../../../test/risk-models.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { checkCommand } from '../../commands/check.ts';
import { momentOf } from '../../core/clock.ts';
import type { Risk } from './schema.ts';

/** One random action on the register, with numbers that select its target. */
const step = fc.record({
  action: fc.constantFrom(
    'create',
    'create',
    'assess',
    'assess',
    'move',
    'move',
    'archive',
    'delete',
    'issue',
    'next day',
    'model',
    'restore',
  ),
  which: fc.nat(),
  probability: fc.option(fc.integer({ min: 1, max: 5 })),
  impact: fc.option(fc.integer({ min: 1, max: 5 })),
  model: riskModels,
  ratings: fc.option(fc.array(fc.nat(), { minLength: 14, maxLength: 14 })),
  status: fc.constantFrom('open', 'mitigating', 'monitoring', 'accepted', 'closed', 'materialized'),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

type Project = { id: string; key: string; archived_at: string | null; counts: Record<string, number | null> };
type Dataset = {
  service: TestService;
  /** Another instance on the same database, whose clock is behind. */
  behind: TestService;
  key: string;
  clock: ReturnType<typeof settableClock>;
  day: number;
  projects: string[];
};

onBothEngines('consistency of roll-ups', (start) => {
  test('after random actions, roll-ups and counts match the rows, today and in the past', async (t) => {
    // Days that have passed, because `muster check` names changes in the future.
    const clock = settableClock('2024-01-01T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    const late = () => momentOf(new Date(Date.parse(clock().now) - 1500));
    const behind = await start(t, { clock: late, target: { url: service.url, drop: async () => {} } });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        run++;
        const projects = [`A${run}`, `B${run}`, `C${run}`];
        for (const name of projects) await service.make('/v1/projects', key, { name, key: name });
        const dataset: Dataset = { service, behind, key, clock, day: run * 50, projects };
        setDay(dataset);
        const registers = new Map<string, string>();
        for (const step of steps) {
          const before = today(dataset);
          await runStep(dataset, step);
          if (step.action === 'next day') registers.set(before, await registerText(dataset, before));
        }
        await assertRollUpsMatch(dataset);
        await assertTrendMatches(dataset, [...registers.keys()]);
        await assertMovementMatches(dataset, [...registers.keys()]);
        for (const [day, register] of registers) {
          assert.equal(await registerText(dataset, day), register, `the register of ${day} has not changed`);
        }
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

async function runStep(
  dataset: Dataset,
  { action, which, model, ratings, status, ...rated }: Step,
): Promise<void> {
  const { key, projects } = dataset;
  const service = which % 7 < 3 ? dataset.behind : dataset.service;
  const { body: current } = await service.get('/v1/risk-model', key);
  // On the scales of the model in force.
  const probability = rated.probability && Math.min(rated.probability, current.probability.length);
  const impact = rated.impact && Math.min(rated.impact, current.impact.length);
  const project = projects[which % projects.length] ?? '';
  const path = `/v1/projects/${project}`;
  const risks: Risk[] = await service.list(`${path}/risks`, key);
  const risk = risks[which % Math.max(1, risks.length)];
  if (action === 'next day') {
    dataset.day++;
    setDay(dataset);
  } else if (action === 'model') {
    const mapTo = (axis: 'probability' | 'impact', from: number) =>
      current[axis].map((_: unknown, i: number) => ((ratings?.[from + i] ?? 0) % model[axis].length) + 1);
    const ratings_map = { probability: mapTo('probability', 0), impact: mapTo('impact', 7) };
    const body = { ...model, ...(ratings && { ratings_map }) };
    await changeModel({ ...dataset, service }, body, which);
  } else if (action === 'restore') {
    if (current.version > 1)
      await changeModel(
        { ...dataset, service },
        { restore_version: (which % (current.version - 1)) + 1 },
        which,
      );
  } else if (action === 'archive') {
    // A filter that names only archived projects is rejected.
    if (project === projects[0]) return;
    const { archived_at } = (await service.get(path, key)).body;
    await service.post(`${path}/${archived_at ? 'unarchive' : 'archive'}`, key, undefined);
  } else if (action === 'create') {
    await service.post(`${path}/risks`, key, {
      title: 'x',
      probability,
      impact,
      due_on: today(dataset, which % 3),
      review_on: which % 4 === 0 ? null : today(dataset, which % 2),
      kind: which % 5 === 0 ? 'opportunity' : 'threat',
      category: ['Supply', 'Law', null][which % 3],
    });
  } else if (action === 'issue') {
    await service.post(`${path}/issues`, key, {
      title: 'x',
      severity: probability === 5 ? 'critical' : 'low',
    });
  } else if (!risk) {
    return;
  } else if (action === 'delete') {
    await service.delete(`${path}/risks/${risk.id}`, key);
  } else if (action === 'assess') {
    await service.patch(`${path}/risks/${risk.id}`, key, { probability, impact });
  } else if (status === 'materialized') {
    await service.post(`${path}/risks/${risk.id}/materialize`, key, {});
  } else {
    await service.patch(`${path}/risks/${risk.id}`, key, {
      status,
      ...(status === 'accepted' && { acceptance_reason: 'x', accepted_until: today(dataset) }),
      ...(status === 'closed' && { closure_reason: 'x' }),
      reason: 'x',
    });
  }
}

/** Changes the model, and compares what a dry run has promised with what has changed. */
async function changeModel({ service, key }: Dataset, body: object, which: number): Promise<void> {
  const all = '/v1/risks?status=all&archived=any';
  const before = new Map(((await service.list(all, key)) as Risk[]).map((risk) => [risk.id, risk]));
  const promised = await service.call('PUT', '/v1/risk-model?dry_run=true', key, body);
  const { status, body: done, text } = await service.call('PUT', '/v1/risk-model', key, body);
  assert.equal(status, 200, text);
  assert.deepEqual(done.changes, promised.body.changes);
  const after: Risk[] = await service.list(all, key);
  const changed = (...fields: (keyof Risk)[]) =>
    after.filter((risk) => fields.some((field) => risk[field] !== before.get(risk.id)?.[field])).length;
  const { risks, ratings, scores, levels } = done.changes;
  assert.deepEqual(
    { risks, ratings, scores, levels },
    {
      risks: changed('version'),
      ratings: changed('probability', 'impact', 'residual_probability', 'residual_impact'),
      scores: changed('score', 'residual_score'),
      levels: changed('level', 'residual_level'),
    },
  );
  if (which % 8 === 0)
    assert.deepEqual((await checkCommand(service.database, () => {})).violations, [], 'muster check');
}

/** Compares all roll-ups with a naive computation from the rows. */
async function assertRollUpsMatch(dataset: Dataset): Promise<void> {
  const { service, key, projects } = dataset;
  const get = async (path: string) => (await service.get(path, key)).body;
  const of = `project=${projects.join(',')}`;
  const all: Project[] = await Promise.all(projects.map((name) => get(`/v1/projects/${name}`)));
  const rows: Risk[] = [];
  const open: { project_id: string }[] = [];
  for (const name of projects) {
    rows.push(...(await get(`/v1/projects/${name}/risks`)).data);
    open.push(...(await get(`/v1/projects/${name}/issues?status=open,in_progress,blocked`)).data);
  }
  const archived = new Set(all.filter(({ archived_at }) => archived_at !== null).map(({ id }) => id));
  const active = rows.filter(({ status }) =>
    ['open', 'mitigating', 'monitoring', 'accepted'].includes(status),
  );
  const shown = active.filter(({ project_id }) => !archived.has(project_id));

  const model = await get('/v1/risk-model');
  for (const risk of rows) assert.equal(risk.level, plainLevel(model, risk), risk.key);
  const register = await get(`/v1/risks?${of}`);
  assert.deepEqual(register.data.map(identity), plainRanking(shown).map(identity));
  assert.deepEqual(register.data.map(identity).sort(), shown.map(identity).sort());
  assert.equal(register.meta.unassessed, shown.filter(({ score }) => score === null).length);

  const map: { probability: number; impact: number; count: number; top: string[] }[] = (
    await get(`/v1/risks/heatmap?${of}`)
  ).data;
  assert.equal(map.length, model.cells.length);
  for (const cell of map) {
    const inCell = (risk: Risk) => risk.probability === cell.probability && risk.impact === cell.impact;
    assert.equal(cell.count, shown.filter(inCell).length);
    assert.deepEqual(cell.top, register.data.filter(inCell).slice(0, 3).map(identity));
  }
  const summary = (await get(`/v1/risks/summary?${of}`)).data;
  assert.equal(summary.total, shown.length);
  for (const { level, count } of summary.by_level)
    assert.equal(count, shown.filter((risk) => risk.level === level).length);
  for (const { check, count } of summary.by_check) {
    assert.equal(count, shown.filter((risk) => risk.checks.includes(check)).length, check);
  }
  // Some of these are the kept counts without what they leave out. A level that no rating has would be rejected.
  const level = `level=${model.cells[0].level}`;
  for (const filter of ['assessed=true', 'review_overdue=false&kind=threat', level, 'q=r', 'unowned=true']) {
    const rows: Risk[] = (await get(`/v1/risks?${of}&${filter}`)).data;
    const filtered = (await get(`/v1/risks/summary?${of}&${filter}&top=200`)).data;
    const countsOf = (field: 'category' | 'project_id' | 'owner_user_id') =>
      Object.fromEntries(
        Map.groupBy(rows, (risk) => risk[field])
          .entries()
          .map(([value, { length }]) => [value, length]),
      );
    const shownCounts = (counted: Record<string, unknown>[], field: string) =>
      Object.fromEntries(counted.map((group) => [group[field], group.count]));
    assert.equal(filtered.total, rows.length, filter);
    assert.deepEqual(shownCounts(filtered.by_category, 'category'), countsOf('category'), filter);
    assert.deepEqual(shownCounts(filtered.by_project, 'project_id'), countsOf('project_id'), filter);
    assert.deepEqual(shownCounts(filtered.by_owner, 'owner_user_id'), countsOf('owner_user_id'), filter);
    for (const { check, count } of filtered.by_check)
      assert.equal(count, rows.filter((risk) => risk.checks.includes(check)).length, `${filter} ${check}`);
  }
  // The whole register is counted by other statements than a filtered one, and so are the rows that a limited key sees.
  const limit = { name: 'limited', scopes: ['projects.read'], project_ids: projects };
  const limited = (await service.make('/v1/keys', key, limit)).secret;
  for (const path of ['/v1/risks/heatmap', '/v1/risks/summary']) {
    assert.deepEqual((await get(path)).data, (await get(`${path}?as_of=${today(dataset)}`)).data);
    assert.deepEqual(await service.list(path, limited), (await get(`${path}?${of}`)).data);
  }
  const trend = (await get(`/v1/risks/trend?${of}&from=${today(dataset)}`)).data.at(-1);
  assert.equal(
    trend.sum,
    shown.reduce((sum, { score }) => sum + (score ?? 0), 0),
  );

  for (const { id, counts } of all) {
    const ofProject = active.filter(({ project_id }) => project_id === id);
    const own = ofProject.filter(({ kind }) => kind === 'threat');
    const scores = own.flatMap(({ score }) => score ?? []);
    assert.deepEqual(counts, {
      open_issues: open.filter(({ project_id }) => project_id === id).length,
      active_risks: own.length,
      unassessed_risks: own.filter(({ score }) => score === null).length,
      top_score: scores.length > 0 ? Math.max(...scores) : null,
      top_level: plainRanking(own)[0]?.level ?? null,
      opportunities: ofProject.length - own.length,
      overdue_tasks: 0,
    });
  }
  const asOfToday = await get(`/v1/risks?${of}&as_of=${today(dataset)}`);
  assert.deepEqual(asOfToday.data, register.data);
}

/** Compares each point of the trend with the register of that day. */
async function assertTrendMatches({ service, key, projects }: Dataset, days: string[]): Promise<void> {
  const [first] = days;
  if (!first) return;
  const of = `project=${projects.join(',')}`;
  const get = async (path: string) => await service.list(path, key);
  // The default register is counted by other statements than a filtered one, and a period may end before today.
  for (const filters of [
    ...['', `&${of}`, `&to=${days.at(-1)}`, '&status=all&archived=any'],
    // These match from a day on, or up to a day.
    ...['&check=due_overdue', '&check=acceptance_expiring,unassessed', '&check=stale_90d,due_overdue'],
    ...['&review_overdue=true', `&review_overdue=false&status=all&to=${days.at(-1)}`],
  ]) {
    const trend: Record<string, number | string>[] = await get(`/v1/risks/trend?from=${first}${filters}`);
    for (const point of trend.filter(({ day }) => days.includes(String(day)))) {
      const then: Risk[] = await get(`/v1/risks?as_of=${point.day}${filters.replace(/&to=.*/, '')}`);
      const scores = then.flatMap(({ score }) => score ?? []);
      const countOf = (level: string) => then.filter((risk) => risk.level === level).length;
      const sum = scores.reduce((total, score) => total + score, 0);
      const sumOf = (level: string) =>
        then.reduce((total, risk) => total + (risk.level === level ? (risk.score ?? 0) : 0), 0);
      assert.deepEqual(point, {
        day: point.day,
        count: then.length,
        very_low: countOf('very_low'),
        low: countOf('low'),
        medium: countOf('medium'),
        high: countOf('high'),
        critical: countOf('critical'),
        unassessed: then.length - scores.length,
        sum,
        sum_by_level: {
          very_low: sumOf('very_low'),
          low: sumOf('low'),
          medium: sumOf('medium'),
          high: sumOf('high'),
          critical: sumOf('critical'),
        },
        average: scores.length === 0 ? null : Math.round((sum / scores.length) * 100) / 100,
        model_version: then[0]?.model_version ?? point.model_version,
      });
    }
  }
}

/** Compares movement, which pages and whole lists compute differently, with the registers of both days. */
async function assertMovementMatches({ service, key, projects }: Dataset, days: string[]): Promise<void> {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return;
  // A filter that leaves out all projects that it names is rejected, instead of matching nothing.
  const get = async (path: string) => {
    const { status, body } = await service.get(path, key);
    return status === 400 && /(nothing|No risk) can match/.test(body.detail) ? { data: [] } : body;
  };
  const of = `project=${projects.join(',')}`;
  const filters = ['', of, `${of}&level=low,high`, `${of}&status=all&archived=any`, `${of}&archived=true`];
  for (const query of [...filters, `${of}&check=no_response_plan`, `${of}&as_of=${last}`]) {
    const current: Risk[] = (await get(`/v1/risks?${query}`)).data;
    const earlier: Risk[] = (await get(`/v1/risks?${query.replace(/&as_of=.*/, '')}&as_of=${first}`)).data;
    const all: Risk[] = (await get(`/v1/risks?status=all&archived=any&as_of=${first}`)).data;
    const expected = current.map(({ id }, i) => {
      const rank = earlier.findIndex((risk) => risk.id === id) + 1;
      const score_then = all.find((risk) => risk.id === id)?.score ?? null;
      return rank === 0
        ? { id, movement: { rank_then: null, score_then, delta: null } }
        : { id, movement: { rank_then: rank, score_then, delta: rank - (i + 1) } };
    });
    const list: string = `/v1/risks?${query}&include=movement&since=${first}`;
    assert.deepEqual((await get(list)).data.map(moved), expected, list);
    assert.deepEqual((await get(`${list}&limit=200`)).data.map(moved), expected.slice(0, 200), list);
    const page = await get(`${list}&limit=2`);
    assert.deepEqual(page.data.map(moved), expected.slice(0, 2), list);
    if (page.page?.next_cursor) {
      const next = await get(`${list}&limit=3&cursor=${page.page.next_cursor}`);
      assert.deepEqual(next.data.map(moved), expected.slice(2, 5), list);
    }
    const byDate: Risk[] = (await get(`${list}&limit=5&sort=raised_on`)).data;
    for (const risk of byDate) {
      assert.deepEqual(
        moved(risk),
        expected.find(({ id }) => id === risk.id),
        `${list} by another order`,
      );
    }
  }
}

/** Without the reason, which has nothing to compare with. */
const moved = ({ id, movement }: { id: string; movement?: { reason: unknown } }) => {
  const { reason: _, ...ranks } = movement ?? { reason: null };
  return { id, movement: ranks };
};

/** Serializes the ranks, scores and statuses of a day's register for comparison. */
async function registerText({ service, key, projects }: Dataset, day: string): Promise<string> {
  const { body } = await service.get(`/v1/risks?project=${projects.join(',')}&as_of=${day}`, key);
  return JSON.stringify(pluck(body.data, 'id', 'rank', 'score', 'status'));
}

const identity = ({ id }: { id: string }) => id;
const today = ({ day }: Dataset, later = 0) =>
  new Date(Date.UTC(2024, 0, 1 + day + later)).toISOString().slice(0, 10);
const setDay = (dataset: Dataset) => dataset.clock.set(`${today(dataset)}T12:00:00Z`);
