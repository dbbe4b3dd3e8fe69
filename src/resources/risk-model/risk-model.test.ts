import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { settableClock } from '../../../test/clock.ts';
import { plainLevel, plainRanking, riskModels } from '../../../test/risk-models.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';
import { checkCommand } from '../../commands/check.ts';
import { deleteOldHistory } from '../../jobs/history-retention.ts';
import type { Event } from '../events/schema.ts';
import { recomputeScores } from '../risks/rules/score-columns.ts';
import type { Risk } from '../risks/schema.ts';
import { presets } from './presets.ts';
import type { RiskModelInput, StoredModel } from './schema.ts';

const path = '/v1/risk-model';
const presetOf = (id: string) => presets.find((preset) => preset.id === id)?.model as StoredModel;
const fourByFour = presetOf('four_by_four');

/** A service with a project and risks with these ratings. */
async function withRisks(started: Promise<TestService>, ratings: readonly (readonly [number, number])[]) {
  const { service, key } = await withKey(started);
  await service.make('/v1/projects', key, { name: 'Apollo' });
  const risks = [];
  for (const [probability, impact] of ratings)
    risks.push(await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', probability, impact }));
  const put = (body: RiskModelInput, query = '', headers = {}) =>
    service.call('PUT', `${path}${query}`, key, body, headers);
  const violations = async () => (await checkCommand(service.database, () => {})).violations;
  return { service, key, risks, put, violations };
}

/** Imports a risk for each cell, with the words of the model instead of numbers. */
async function importWords(service: TestService, key: string, { probability, impact, cells }: StoredModel) {
  const rows = cells.map(
    (cell, i) => `w${i},${probability[cell.probability - 1]?.word},${impact[cell.impact - 1]?.word}`,
  );
  const file = ['title,probability,impact', ...rows].join('\n');
  const { body } = await service.upload('/v1/projects/APOLLO/risks/import', key, file);
  const created: { id: string }[] = body.results;
  assert.equal(created.length, cells.length);
  for (const [i, { id }] of created.entries()) {
    const { body: risk } = await service.get(`/v1/risks/${id}`, key);
    assert.deepEqual(
      [risk.probability, risk.impact, risk.level],
      [cells[i]?.probability, cells[i]?.impact, cells[i]?.level],
    );
  }
}

/** Compares an export with the register. */
async function assertExported(service: TestService, key: string, register: readonly Risk[]) {
  const { text } = await service.get('/v1/risks?format=ndjson', key);
  const exported = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const fields = ['id', 'probability', 'impact', 'score', 'level', 'rank', 'model_version'] as const;
  assert.deepEqual(pluck(exported, ...fields), pluck(register, ...fields));
}

onBothEngines('the risk model', (start) => {
  test('is that of before, as version 1, until it is changed', async (t) => {
    const { service, key } = await withKey(start(t));
    const { body, headers } = await service.get(path, key);
    assert.equal(body.version, 1);
    assert.match(headers.get('etag') ?? '', /^"1-/);
    assert.deepEqual(body.probability[0], { value: 1, word: 'rare', description: null });
    assert.deepEqual([body.default_appetite, body.longest_acceptance_days, body.changed_at], [12, 365, null]);
    const versions = await service.list(`${path}/versions`, key);
    assert.deepEqual(pluck(versions, 'version', 'changed_by', 'ratings_map'), [[1, null, null]]);
    const { body: listed } = await service.get(`${path}/presets`, key);
    assert.deepEqual(pluck(listed.data, 'id'), ['default', 'four_by_four', 'three_by_three', 'iso_31000']);
    for (const { model } of listed.data) {
      const { status, text } = await service.call('PUT', `${path}?dry_run=true`, key, model);
      assert.equal(status, 200, text);
    }
  });

  test('a dry run and the change report the same, and only the change changes something', async (t) => {
    const { service, key, risks, put, violations } = await withRisks(start(t), [
      [5, 5],
      [3, 4],
      [1, 1],
      [2, 5],
    ]);
    await service.make('/v1/views', key, { list: 'risks', name: 'High', query: 'level=high&sort=rank' });
    await service.make('/v1/views', key, { list: 'risks', name: 'Mine', query: 'owner_user_id=me' });
    const before = await service.list('/v1/risks', key);
    const tried = await put(fourByFour, '?dry_run=true');
    assert.equal(tried.status, 200, tried.text);
    assert.deepEqual(await service.list('/v1/risks', key), before);
    const [{ sequence: after }] = (await service.get('/v1/events?sort=-sequence&limit=1', key)).body.data;
    const done = await put(fourByFour);
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(done.body.changes, tried.body.changes);
    assert.deepEqual(done.body.ratings_map, {
      probability: [1, 2, 3, 3, 4],
      impact: [1, 2, 3, 3, 4],
    });
    const { changes } = done.body;
    // 5 × 5 becomes 4 × 4, 3 × 4 becomes 3 × 3, and 2 × 5 becomes 2 × 4, which is high; 1 × 1 stays.
    assert.deepEqual([changes.risks, changes.ratings, changes.levels, changes.ranks], [3, 3, 1, 0]);
    assert.deepEqual(changes.by_level, [
      { level: 'critical', before: 1, after: 1 },
      { level: 'high', before: 1, after: 2 },
      { level: 'medium', before: 1, after: 0 },
      { level: 'low', before: 1, after: 1 },
    ]);
    assert.deepEqual(pluck(changes.views, 'name'), ['High']);
    assert.deepEqual(changes.appetites, [{ before: 12, after: 9, projects: 1 }]);
    const now = await service.list('/v1/risks', key);
    assert.deepEqual(pluck(now, 'score', 'level', 'version', 'model_version', 'initial_score'), [
      [16, 'critical', 2, 2, 16],
      [9, 'high', 2, 2, 9],
      [8, 'high', 2, 2, 8],
      [1, 'low', 1, 2, 1],
    ]);
    const events = await service.list(`/v1/events?after=${after}`, key);
    assert.deepEqual(pluck(events, 'type').toSorted(), [
      'project.updated',
      'risk.level_raised',
      'risk.score_changed',
      'risk.score_changed',
      'risk_model.changed',
    ]);
    const [first] = risks;
    const ofFirst = events.find((event: Event) => event.subject.id === first.id);
    assert.deepEqual(ofFirst.data, (await service.get(`/v1/risks/${first.id}`, key)).body);
    assert.deepEqual(ofFirst.previous, { probability: 5, impact: 5, score: 25, initial_score: 25 });
    const changed = events.find((event: Event) => event.type === 'risk_model.changed');
    assert.deepEqual(changed.data, (await service.get(path, key)).body);
    const history = await service.list(`/v1/projects/APOLLO/risks/${first.id}/history`, key);
    assert.deepEqual(pluck(history.slice(1), 'field', 'from', 'to', 'reason'), [
      ['probability', 5, 4, 'Version 2 of the risk model.'],
      ['impact', 5, 4, 'Version 2 of the risk model.'],
      ['model_version', 1, 2, 'Version 2 of the risk model.'],
    ]);
    assert.deepEqual(await violations(), []);
  });

  test('an earlier version restores ratings and appetites that nobody has changed since', async (t) => {
    const { service, key, risks, put, violations } = await withRisks(start(t), [
      [4, 4],
      [3, 4],
      [5, 2],
      [4, 1],
    ]);
    await service.make('/v1/projects', key, { name: 'Gemini', appetite: 20 });
    await put(fourByFour);
    await service.patch(`/v1/projects/APOLLO/risks/${risks[1].id}`, key, { title: 'Renamed' });
    await service.patch(`/v1/projects/APOLLO/risks/${risks[2].id}`, key, { impact: 4 });
    const { id } = await service.make('/v1/projects/APOLLO/risks', key, {
      title: 'new',
      probability: 4,
      impact: 4,
    });
    await service.patch('/v1/projects/GEMINI', key, { appetite: 16 });
    const { status, body, text } = await put({ restore_version: 1, reason: 'Undo' });
    assert.equal(status, 200, text);
    assert.equal(body.model.version, 3);
    const ratings = async (ref: string) => {
      const { body } = await service.get(`/v1/risks/${ref}`, key);
      return [body.probability, body.impact, body.initial_score];
    };
    assert.deepEqual(await ratings(risks[0].id), [4, 4, 16]);
    assert.deepEqual(await ratings(risks[1].id), [3, 4, 12]);
    assert.deepEqual(await ratings(risks[3].id), [4, 1, 4]);
    // Those that were rated by the 4 × 4 matrix are mapped.
    assert.deepEqual((await ratings(risks[2].id)).slice(0, 2), [5, 5]);
    assert.deepEqual(await ratings(id), [5, 5, 25]);
    const { body: apollo } = await service.get('/v1/projects/APOLLO', key);
    assert.equal(apollo.appetite, 12);
    assert.deepEqual(
      pluck(await service.list(`${path}/versions`, key), 'version', 'restored_version', 'reason'),
      [
        [3, 1, 'Undo'],
        [2, null, null],
        [1, null, null],
      ],
    );
    // And back to the 4 × 4 matrix.
    await put({ restore_version: 2 });
    assert.deepEqual(await ratings(risks[0].id), [3, 3, 9]);
    assert.deepEqual((await ratings(risks[2].id)).slice(0, 2), [4, 4]);
    assert.deepEqual(await violations(), []);
  });

  test('an earlier version maps appetites whose history has been deleted', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const { service, key, put, violations } = await withRisks(start(t, { clock }), [[4, 4]]);
    await put(presetOf('three_by_three'));
    clock.set('2026-06-01T12:00:00Z');
    for (let i = 0; i < 2; i++) await deleteOldHistory(service.database, clock(), 30);
    const mapped = (await put(presetOf('default'), '?dry_run=true')).body.changes.appetites;
    assert.deepEqual(mapped, [{ before: 6, after: 17, projects: 1 }]);
    const { body } = await put({ restore_version: 1 });
    assert.deepEqual(body.changes.appetites, mapped);
    assert.equal((await service.get('/v1/projects/APOLLO', key)).body.appetite, 17);
    assert.deepEqual(await violations(), []);
  });

  test('shows how many threats would be above the appetite, without opportunities', async (t) => {
    const { service, key, put } = await withRisks(start(t), [[5, 5]]);
    const input = { title: 'o', kind: 'opportunity', strategy: 'exploit', probability: 5, impact: 5 };
    await service.make('/v1/projects/APOLLO/risks', key, input);
    const { body } = await put(fourByFour, '?dry_run=true');
    assert.deepEqual(body.changes.above_appetite, { before: 1, after: 1 });
    assert.equal((await service.list('/v1/risks?check=above_appetite', key)).length, 1);
  });

  test('maps risks that were written after a change by a clock that is behind it', async (t) => {
    const clock = { now: '2026-11-10T12:00:00.000Z', today: '2026-11-10', time_zone: 'UTC' };
    const { service, key, risks, put, violations } = await withRisks(
      start(t, { clock: () => ({ ...clock }) }),
      [[5, 5]],
    );
    await put(fourByFour);
    await put({ restore_version: 1 });
    clock.now = '2026-11-10T11:00:00.000Z';
    const input = { title: 'late', probability: 5, impact: 5 };
    const late = await service.make('/v1/projects/APOLLO/risks', key, input);
    await service.patch(`/v1/projects/APOLLO/risks/${risks[0].id}`, key, { impact: 3 });
    await put({ restore_version: 2 });
    const ratings = pluck(await service.list('/v1/risks', key), 'id', 'probability', 'impact');
    assert.deepEqual(ratings, [
      [late.id, 4, 4],
      [risks[0].id, 4, 3],
    ]);
    assert.deepEqual(await violations(), []);
  });

  test('decides about ratings, appetites, acceptances and reviews', async (t) => {
    const { service, key, put } = await withRisks(start(t), []);
    const levels = fourByFour.levels.map((level) => ({
      ...level,
      review_days: level.level === 'low' ? null : 30,
    }));
    const changed = await put({ ...fourByFour, levels, longest_acceptance_days: 10 });
    assert.equal(changed.status, 200, changed.text);
    const risks = '/v1/projects/APOLLO/risks';
    const refused = await service.post(risks, key, { title: 'x', probability: 5, impact: 1 });
    assert.deepEqual([refused.status, refused.body.errors[0].pointer], [422, '#/probability']);
    assert.match(
      refused.body.detail,
      /Use 1 \(unlikely\), 2 \(possible\), 3 \(likely\) or 4 \(almost certain\)\./,
    );
    const risk = await service.make(risks, key, { title: 'x', probability: 4, impact: 4 });
    assert.equal(risk.level, 'critical');
    assert.notEqual(risk.review_on, null);
    const { body: lower } = await service.patch(`${risks}/${risk.id}`, key, { review_on: null, impact: 1 });
    assert.deepEqual([lower.level, lower.review_on], ['medium', null]);
    const { body: higher } = await service.patch(`${risks}/${risk.id}`, key, { impact: 2 });
    assert.deepEqual([higher.level, higher.review_on], ['high', risk.review_on]);
    assert.equal((await service.patch(`${risks}/${risk.id}`, key, { impact: 5 })).status, 422);
    const accepted = (days: number) =>
      service.patch(`${risks}/${risk.id}`, key, {
        status: 'accepted',
        acceptance_reason: 'Insured',
        accepted_until: new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
      });
    assert.match((await accepted(12)).body.detail, /at most 10 days/);
    assert.equal((await accepted(9)).status, 200);
    const project = await service.make('/v1/projects', key, { name: 'Gemini' });
    assert.equal(project.appetite, 8);
    assert.match(
      (await service.patch('/v1/projects/GEMINI', key, { appetite: 17 })).body.detail,
      /from 1 to 16/,
    );
    const { body: evaluated } = await service.post('/v1/risks/evaluate', key, { probability: 3, impact: 3 });
    assert.deepEqual([evaluated.score, evaluated.level], [9, 'high']);
    assert.equal((await service.post('/v1/risks/evaluate', key, { probability: 6, impact: 3 })).status, 422);
    const { body: heatmap } = await service.get('/v1/risks/heatmap', key);
    assert.equal(heatmap.data.length, 16);
    assert.equal((await service.get('/v1/risks?probability=5', key)).status, 400);
    const { body: explained } = await service.get(`/v1/risks/${risk.id}?explain=true`, key);
    assert.match(explained.explain.text, /^almost certain \(4\) × moderate \(2\) = 8, which is high/);
    const severities = [];
    for (const impact of [1, 2, 3, 4]) {
      const { id } = await service.make(risks, key, { title: 'x', probability: 1, impact });
      severities.push((await service.post(`${risks}/${id}/materialize`, key, {})).body.issue.severity);
    }
    assert.deepEqual(severities, ['low', 'medium', 'high', 'critical']);
  });

  test('a change maps the severity of open issues that still follow from their risk', async (t) => {
    const { service, key, risks, put, violations } = await withRisks(start(t), [
      [1, 2],
      [1, 2],
      [1, 5],
    ]);
    const issues = [];
    for (const { id } of risks)
      issues.push((await service.post(`/v1/projects/APOLLO/risks/${id}/materialize`, key, {})).body.issue);
    await service.patch(`/v1/projects/APOLLO/issues/${issues[1].id}`, key, { severity: 'high' });
    const { body } = await put(fourByFour);
    assert.equal(body.changes.issues, 1);
    const severity = async ({ id }: { id: string }) =>
      (await service.get(`/v1/issues/${id}`, key)).body.severity;
    assert.deepEqual(await Promise.all(issues.map(severity)), ['medium', 'high', 'critical']);
    assert.deepEqual(await violations(), []);
  });

  test('labels and colors change without a new version of any risk, and the same model without one of its own', async (t) => {
    const { service, key, put, risks } = await withRisks(start(t), [[2, 3]]);
    const model = presetOf('default');
    const labelled = { ...model, levels: model.levels.map((level) => ({ ...level, color: '#00ff00' })) };
    assert.equal((await put(labelled)).body.changes.risks, 0);
    assert.equal((await put(labelled)).body.model.version, 2);
    const { body } = await service.get(`/v1/risks/${risks[0].id}`, key);
    assert.deepEqual([body.version, body.model_version], [1, 2]);
    assert.equal((await service.get(path, key)).body.levels[0].color, '#00ff00');
  });

  test('refuses models that are not whole, and changes by a stale or limited key', async (t) => {
    const { service, key, put } = await withRisks(start(t), []);
    const errors = async (body: object) => {
      const { status, body: problem } = await put(body as RiskModelInput);
      assert.equal(status, 422);
      return pluck(problem.errors, 'code');
    };
    assert.deepEqual(await errors({}), Array(6).fill('required'));
    assert.deepEqual(await errors({ restore_version: 1 }), ['unknown_version']);
    assert.deepEqual(await errors({ restore_version: 1, default_appetite: 3 }), ['contradiction']);
    assert.deepEqual(await errors({ ...fourByFour, cells: fourByFour.cells.slice(1) }), ['required']);
    assert.deepEqual(await errors({ ...fourByFour, default_appetite: 17 }), ['not_in_model']);
    assert.deepEqual(await errors({ ...fourByFour, levels: fourByFour.levels.toReversed() }), ['levels']);
    const words = fourByFour.impact.map((step) => ({ ...step, word: 'same' }));
    assert.deepEqual(await errors({ ...fourByFour, impact: words }), Array(3).fill('duplicate'));
    const ratings_map = { probability: [1, 2, 3, 4, 5], impact: [1, 2, 3, 4, 4] };
    assert.deepEqual(await errors({ ...fourByFour, ratings_map }), ['not_in_model']);
    assert.equal((await put(fourByFour, '', { 'if-match': '"7"' })).status, 412);
    const { id } = (await service.get('/v1/projects/APOLLO', key)).body;
    const limited = (
      await service.make('/v1/keys', key, { name: 'l', scopes: ['projects.manage'], project_ids: [id] })
    ).secret;
    assert.equal((await service.call('PUT', path, limited, fourByFour)).status, 403);
    assert.equal(
      (await service.call('PUT', path, await service.key('projects.read'), fourByFour)).status,
      403,
    );
    assert.equal((await service.get(path, limited)).body.version, 1);
  });

  test('the past keeps its model: as_of, the trend and movement', async (t) => {
    const clock = { now: '2026-11-10T12:00:00.000Z', today: '2026-11-10', time_zone: 'UTC' };
    const { service, key, put, violations } = await withRisks(start(t, { clock: () => ({ ...clock }) }), [
      [5, 5],
      [4, 1],
    ]);
    Object.assign(clock, { now: '2026-11-12T12:00:00.000Z', today: '2026-11-12' });
    await put(presetOf('three_by_three'));
    const then = await service.list('/v1/risks?as_of=2026-11-11', key);
    assert.deepEqual(pluck(then, 'score', 'level', 'model_version'), [
      [25, 'critical', 1],
      [4, 'low', 1],
    ]);
    const heatmap = async (query: string) => (await service.get(`/v1/risks/heatmap${query}`, key)).body.data;
    assert.deepEqual([(await heatmap('?as_of=2026-11-11')).length, (await heatmap('')).length], [25, 9]);
    const { body: trend } = await service.get('/v1/risks/trend?from=2026-11-11', key);
    assert.deepEqual(pluck(trend.data, 'day', 'sum', 'critical', 'model_version'), [
      ['2026-11-11', 29, 1, 1],
      ['2026-11-12', 12, 1, 2],
    ]);
    const moved = await service.list('/v1/risks?include=movement&since=2026-11-11&limit=5', key);
    assert.deepEqual(pluck(moved, 'movement'), [
      { rank_then: 1, score_then: 25, delta: 0, reason: 'Version 2 of the risk model.' },
      { rank_then: 2, score_then: 4, delta: 0, reason: 'Version 2 of the risk model.' },
    ]);
    assert.equal((await service.get('/v1/risks?min_score=20', key)).status, 400);
    assert.equal((await service.list('/v1/risks?min_score=20&as_of=2026-11-11', key)).length, 1);
    assert.deepEqual(await violations(), []);
  });

  test('of any size and with any levels, decides about ranks, levels, the heat map, the summary, imports and exports', async (t) => {
    const { service, key, put, violations } = await withRisks(start(t), []);
    const rating = fc.option(fc.integer({ min: 1, max: 3 }));
    const risks = fc.array(fc.record({ probability: rating, impact: rating }), {
      minLength: 4,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(riskModels, risks, async (model, added) => {
        for (const body of added)
          await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', ...body });
        const { status, text } = await put(model);
        assert.equal(status, 200, text);
        await importWords(service, key, model);
        const register: Risk[] = await service.list('/v1/risks', key);
        await assertExported(service, key, register);
        assert.deepEqual(pluck(register, 'id'), pluck(plainRanking(register), 'id'));
        for (const risk of register) assert.equal(risk.level, plainLevel(model, risk));
        for (const query of ['', '?project=APOLLO', `?as_of=${register[0]?.updated_at.slice(0, 10)}`]) {
          const { data: cells } = (await service.get(`/v1/risks/heatmap${query}`, key)).body;
          assert.deepEqual(
            pluck(cells, 'probability', 'impact', 'level', 'count').toSorted(),
            model.cells
              .map(({ probability, impact, level }) => {
                const inCell = register.filter(
                  (one) => one.probability === probability && one.impact === impact,
                );
                return [probability, impact, level, inCell.length];
              })
              .toSorted(),
          );
          const { data: summary } = (await service.get(`/v1/risks/summary${query}`, key)).body;
          assert.deepEqual(
            pluck(summary.by_level, 'level', 'count'),
            model.levels
              .toReversed()
              .map(({ level }) => [level, register.filter((one) => one.level === level).length]),
          );
        }
      }),
      { numRuns: 4 },
    );
    assert.deepEqual(await violations(), []);
  });

  test('its labels are read from files, and ratings of another version are refused', async (t) => {
    const { service, key, put } = await withRisks(start(t), [[2, 2]]);
    const exported = await service.get('/v1/risks', key, { accept: 'text/csv' });
    assert.match(exported.text.split('\r\n')[0] ?? '', /,model_version,/);
    const own = fourByFour.impact.map((step, i) => ({
      ...step,
      word: ['Gering', 'Mittel', 'Hoch', 'Sehr hoch'][i] ?? '',
    }));
    await put({ ...fourByFour, impact: own });
    const path = '/v1/projects/APOLLO/risks/import';
    const file = 'title,Probability (1-4),impact\nA,likely,sehr hoch\nB,3,Mittel\nC,5,1\nD,1,medium\n';
    const { body } = await service.upload(path, key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['created', 'created', 'failed', 'failed']);
    assert.match(body.results[2].errors[0].detail, /numbers from 1 to 4/);
    const stored = await service.list('/v1/projects/APOLLO/risks', key);
    assert.deepEqual(pluck(stored, 'title', 'score').slice(0, 2), [
      ['A', 12],
      ['B', 6],
    ]);
    const again = await service.upload(`${path}?mode=upsert`, key, exported.text);
    assert.equal(again.body.summary.failed, 1);
    assert.match(
      again.body.results[0].errors[0].detail,
      /version 1 of the risk model, but version 2 is in force/,
    );
    const current = await service.get('/v1/risks', key, { accept: 'text/csv' });
    const same = await service.upload(`${path}?mode=upsert`, key, current.text);
    assert.deepEqual([same.body.summary.unchanged, same.body.summary.failed], [3, 0], same.text);
  });

  test('writes during a change are rated by the former model and mapped, or by the new one', async (t) => {
    const { service, key, put, violations } = await withRisks(start(t), [[5, 5]]);
    const writes = Array.from({ length: 12 }, (_, i) =>
      service.post(`/v1/projects/${i % 3 === 0 ? 'GEMINI' : 'APOLLO'}/risks`, key, {
        title: `Risk ${i}`,
        probability: 5,
        impact: 1,
      }),
    );
    const projects = ['Gemini', 'Mercury'].map((name) => service.post('/v1/projects', key, { name }));
    const [changed] = await Promise.all([put(presetOf('three_by_three')), ...writes, ...projects]);
    assert.equal(changed.status, 200, changed.text);
    const statuses = (await Promise.all(writes)).map(({ status }) => status);
    assert.ok(
      statuses.every((status) => [201, 404, 422].includes(status)),
      String(statuses),
    );
    for (const { probability } of await service.list('/v1/risks', key)) assert.ok(probability <= 3);
    for (const { appetite } of await service.list('/v1/projects', key)) assert.ok(appetite <= 9);
    assert.deepEqual(await violations(), []);
  });

  test('decides about scores that are computed again after a restore', async (t) => {
    const { service, put, violations } = await withRisks(start(t), [[5, 5]]);
    await put(presetOf('iso_31000'));
    await service.database.write(async (db) => {
      await sql`update risks set level = 'low'`.execute(db);
      assert.equal(await recomputeScores(db), 1);
    });
    assert.deepEqual(await violations(), []);
  });
});
