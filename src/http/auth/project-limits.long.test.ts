import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { runConcurrently } from '../../../test/concurrency.ts';
import { dereferenced } from '../../../test/fuzz/document.ts';
import { onBothEngines, pluck, type Start, type TestService } from '../../../test/service.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { createTest } from '../../resources/webhooks/deliveries.ts';
import { bySystem } from '../../store/writes/change.ts';

const today = '2026-11-15T12:00:00.000Z';
const [first, second, third] = ['2026-09-01', '2026-10-01', '2026-11-01'] as const;

onBothEngines('keys limited to projects', (start) => {
  test('data and changes outside the limit do not affect any response', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service } = dataset;
    const questions = questionsTo(dataset);
    assert.ok(questions.length > 300, String(questions.length));
    const ask = async (asked = questions) => {
      const responses = new Map<string, unknown>();
      await runConcurrently(
        asked,
        async (question) => responses.set(question, await responsesTo(service, dataset.limited, question)),
        4,
      );
      return responses;
    };

    // Use the keys once, because the first use changes `last_used_at`.
    await service.get('/v1/me', dataset.limited);
    await service.app.usage.flush();
    const alone = await ask();
    const hidden = await makeHidden(dataset);
    const together = await ask();
    for (const question of questions) assert.deepEqual(together.get(question), alone.get(question), question);

    const ofOwn = questions.filter((question) => !question.includes('CANARY'));
    const seenByLimited = JSON.stringify(ofOwn.map((question) => together.get(question)));
    for (const trace of ['canary', 'CANARY', ...hidden.ids]) assert.ok(!seenByLimited.includes(trace), trace);
    const seenByWhole = JSON.stringify(await responsesTo(service, dataset.whole, '/v1/risks'));
    assert.ok(seenByWhole.includes('canary') && seenByWhole.includes(hidden.risk.id));

    // With many rows, visible rows are found by another query plan.
    await service.database.write((db) =>
      db.updateTable('projects').set({ tasks_created: 20_000 }).where('key', '=', 'SEEN').execute(),
    );
    const lists = questions.filter((question) => /^\/v1\/(risks|issues|tasks|events)(\?| |$)/.test(question));
    for (const [question, responses] of await ask(lists))
      assert.deepEqual(responses, alone.get(question), question);

    const streamed = await readStream(dataset);
    assert.ok(streamed.includes(dataset.risk));
    for (const trace of ['canary', 'CANARY', ...hidden.ids]) assert.ok(!streamed.includes(trace), trace);
  });

  test('resources outside the limit look like missing ones, and cannot be changed', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, limited } = dataset;
    const hidden = await makeHidden(dataset);
    const absent = (text: string) => madeUp(text, hidden.ids);
    const before = await everything(service);
    const requests = [...requestsFor(service, hidden), ...requestsNaming(dataset, hidden)];
    assert.ok(requests.length > 60, String(requests.length));
    for (const [method, path, body] of requests) {
      const name = `${method} ${path} ${JSON.stringify(body)}`;
      const response = await service.call(method, path, limited, body, typeFor(path));
      const other = await service.call(
        method,
        absent(path),
        limited,
        body && JSON.parse(absent(JSON.stringify(body))),
        typeFor(path),
      );
      assert.deepEqual(
        [response.status, withoutRequestId(absent(response.text))],
        [other.status, withoutRequestId(other.text)],
        name,
      );
      const isEmptyList = response.status === 200 && response.body.data.length === 0;
      assert.ok(
        [400, 404, 422].includes(response.status) || isEmptyList,
        `${name} returned ${response.text}`,
      );
    }
    assert.deepEqual(await everything(service), before);
  });

  test('operations that affect all projects are rejected, with any data', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, limited, whole } = dataset;
    const unused = await service.make('/v1/personnel', whole, { name: 'Nobody' });
    const requests = [
      ['POST', '/v1/projects', { name: 'New' }],
      ['POST', '/v1/projects', { name: 'New', key: 'CANARY', external_id: 'CANARY' }],
      ['POST', '/v1/projects/import', { name: 'New' }],
      ['POST', '/v1/projects/import', { name: 'New', key: 'CANARY' }],
      ['PATCH', `/v1/projects/${dataset.fresh}`, { key: 'CANARY' }],
      ['PATCH', `/v1/projects/${dataset.fresh}`, { external_id: 'CANARY' }],
      ['DELETE', `/v1/personnel/${unused.user_id}`, undefined],
      ['DELETE', `/v1/groups/${dataset.empty}`, undefined],
      ['POST', `/v1/personnel/${unused.user_id}/deactivate`, { dry_run: true }],
      ['POST', `/v1/personnel/${unused.user_id}/handovers/hnd_${'0'.repeat(26)}/undo`, {}],
      ['POST', '/v1/views', { list: 'risks', name: 'New', query: 'project=CANARY' }],
      ['POST', '/v1/mappings', { list: 'risks', name: 'New', query: 'preset=none' }],
      ['GET', '/metrics', undefined],
    ] as const;
    const ask = async () => {
      const responses: unknown[] = [];
      for (const [method, path, body] of requests) {
        const { status, text } = await service.call(method, path, limited, body, typeFor(path));
        responses.push([status, withoutRequestId(text)]);
        assert.match(text, /"code":"key_limited"/);
        assert.equal(status, 403);
      }
      return responses;
    };
    const alone = await ask();
    await makeHidden(dataset, { lead_user_id: unused.user_id, owner_group_id: dataset.empty });
    assert.deepEqual(await ask(), alone);
    const patch = await service.patch(`/v1/projects/${dataset.fresh}`, limited, {
      name: 'Fresh air',
    });
    assert.equal(patch.status, 200);
  });

  test('all operations work inside the limit', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, limited, person } = dataset;
    await makeHidden(dataset);
    const risks = '/v1/projects/SEEN/risks';
    const risk = await service.make(risks, limited, {
      title: 'New',
      probability: 5,
      impact: 5,
      external_id: 'ext',
    });
    const { body: ranked } = await service.get('/v1/risks', limited);
    assert.deepEqual(
      pluck(ranked.data, 'rank'),
      ranked.data.map((_: unknown, i: number) => i + 1),
    );
    assert.ok(ranked.data.every(({ project_key }: { project_key: string }) => project_key === 'SEEN'));
    assert.equal(ranked.page.total, ranked.data.length);
    const { body: all } = await service.get('/v1/risks', dataset.whole);
    assert.ok(all.page.total > ranked.page.total);

    const taken = await service.post(risks, limited, { title: 'x', external_id: 'ext' });
    assert.deepEqual([taken.status, taken.body.existing_id], [409, risk.id]);
    const task = { title: 'Do', risk_id: risk.id, assignee_user_id: person };
    const { id } = await service.make('/v1/projects/SEEN/tasks', limited, task);
    const inUse = await service.delete(`${risks}/${risk.id}`, limited);
    assert.deepEqual([inUse.status, inUse.body.used_by.tasks.count], [409, 1]);
    assert.equal((await service.delete(`/v1/projects/SEEN/tasks/${id}`, limited)).status, 204);
    assert.equal((await service.post(`${risks}/${risk.id}/materialize`, limited, {})).status, 201);
    const { body: evaluation } = await service.post('/v1/risks/evaluate', limited, {
      probability: 1,
      impact: 1,
    });
    const { total, unassessed } = await service.list('/v1/risks/summary', limited);
    assert.deepEqual([evaluation.of, evaluation.rank], [total + 1, total - unassessed + 1]);
    for (const action of ['archive', 'unarchive'])
      assert.equal((await service.post(`/v1/projects/SEEN/${action}`, limited, {})).status, 200);

    // People and groups belong to no project, so a limited key can change them.
    const created = await service.make('/v1/personnel', limited, { name: 'New', manager_user_id: person });
    const patch = { manager_user_id: null, status: 'inactive' };
    assert.equal((await service.patch(`/v1/personnel/${created.user_id}`, limited, patch)).status, 200);
    const group = await service.make('/v1/groups', limited, { name: 'Below', parent_id: dataset.group });
    const move = { parent_id: dataset.empty };
    assert.equal((await service.patch(`/v1/groups/${group.id}`, limited, move)).status, 200);
  });

  test('a cursor works with the visible rows of the key that sends it', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, limited, whole } = dataset;
    await makeHidden(dataset);
    const { body: page } = await service.get('/v1/risks?limit=3', whole);
    const next = `/v1/risks?limit=3&cursor=${page.page.next_cursor}`;
    const passed = page.data.filter(({ project_key }: { project_key: string }) => project_key === 'SEEN');
    const { body: own } = await service.get(next, limited);
    assert.equal(own.data[0].rank, passed.length + 1);
    const { body: wholePage } = await service.get(next, whole);
    assert.equal(wholePage.data[0].rank, 4);
  });

  test('the ETag of a long list does not reveal changes outside the limit', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, limited, whole } = dataset;
    const description = 'x'.repeat(10_000);
    for (let i = 0; i < 30; i++)
      await service.make('/v1/projects/SEEN/risks', whole, { title: `Long ${i}`, description });
    const response = await service.get('/v1/risks', limited);
    assert.ok(response.text.length > 300_000);
    assert.equal(response.headers.get('etag'), null);
    assert.notEqual((await service.get('/v1/risks', whole)).headers.get('etag'), null);
    const people = await service.get('/v1/personnel', limited);
    const known = { 'if-none-match': people.headers.get('etag') ?? '' };
    assert.equal((await service.get('/v1/personnel', limited, known)).status, 304);
  });

  test('a changed limit applies from the next request on', async (t) => {
    const dataset = await makeWorld(start, t);
    const { service, whole, limited } = dataset;
    const hidden = await makeHidden(dataset);
    const { key_id } = (await service.get('/v1/me', limited)).body;
    const limitTo = async (project_ids: string[] | null) => {
      const patch = await service.patch(`/v1/keys/${key_id}`, whole, { project_ids });
      assert.equal(patch.status, 200, patch.text);
      assert.deepEqual((await service.get('/v1/me', limited)).body.project_ids, patch.body.project_ids);
      return pluck(await service.list('/v1/projects?archived=any', limited), 'key');
    };
    assert.deepEqual(await limitTo(['CANARY']), ['CANARY']);
    assert.deepEqual(await limitTo([dataset.seen, hidden.project.id]), ['CANARY', 'SEEN']);
    assert.equal((await limitTo(null)).length, 5);
    assert.deepEqual(await limitTo([dataset.fresh]), ['FRESH']);
    assert.equal((await service.delete(`/v1/projects/${dataset.fresh}`, limited)).status, 204);
    assert.deepEqual((await service.get('/v1/me', limited)).body.project_ids, [dataset.fresh]);
    assert.deepEqual(await service.list('/v1/projects?archived=any', limited), []);
    assert.deepEqual((await service.list('/v1/risks/summary', limited)).total, 0);
  });
});

type Dataset = Awaited<ReturnType<typeof makeWorld>>;

/** People, groups, and three projects that the limited key sees: one in full, one archived, one empty. */
async function makeWorld(start: Start, t: Parameters<Start>[0]) {
  const clock = settableClock(`${first}T08:00:00Z`);
  const service = await start(t, { clock });
  const whole = await service.key();
  const make = (path: string, body: object) => service.make(path, whole, body);
  const { user_id: person } = await make('/v1/personnel', {
    name: 'Ada',
    skills: ['steam'],
    department: 'Works',
  });
  const { id: group } = await make('/v1/groups', { name: 'Works', lead_user_id: person });
  const { id: empty } = await make('/v1/groups', { name: 'Empty' });
  await service.call('PUT', `/v1/groups/${group}/members/${person}`, whole);
  const shared = { service, whole, clock, person, group };
  const { project, risk, issue, task, comment } = await fill(shared, 'SEEN', 'plain');
  const { project: old } = await fill(shared, 'OLD', 'plain');
  await service.call('POST', `/v1/projects/${old.id}/archive`, whole);
  const { id: fresh } = await make('/v1/projects', { name: 'Fresh' });
  clock.set(today);
  const limited = await service.limitedKey(['SEEN', old.id, fresh]);
  const narrow = { name: 'narrow', scopes: ['projects.read'], project_ids: ['SEEN'] };
  const { id: key } = await service.make('/v1/keys', limited, narrow);
  const { id: webhook } = await service.make('/v1/webhooks', limited, {
    url: 'https://example.com/',
    types: ['risk.*'],
  });
  const { id: view } = await make('/v1/views', { list: 'risks', name: 'Seen', query: 'project=SEEN' });
  const { id: mapping } = await make('/v1/mappings', { list: 'risks', name: 'Seen', query: 'preset=none' });
  const { id: report } = await make('/v1/reports', { title: 'Seen', since: '2026-01-01', project: ['SEEN'] });
  const { id: category } = await make('/v1/categories', { name: 'Listed' });
  return {
    ...shared,
    webhook,
    view,
    mapping,
    report,
    category,
    empty,
    limited,
    seen: project.id,
    fresh,
    risk: risk.id,
    issue: issue.id,
    task: task.id,
    comment: comment.id,
    key,
  };
}

/** Data that is hidden from the limited key: full projects, and keys with access to them. */
async function makeHidden(dataset: Dataset, fields: { lead_user_id?: string; owner_group_id?: string } = {}) {
  const { service, whole, clock } = dataset;
  const person = fields.lead_user_id ?? dataset.person;
  const group = fields.owner_group_id ?? dataset.group;
  const filled = await fill({ ...dataset, person, group }, 'CANARY', 'canary');
  const old = await fill({ ...dataset, person, group }, 'CANARYOLD', 'canary');
  await service.call('POST', '/v1/projects/CANARYOLD/archive', whole);
  clock.set(today);
  await service.make('/v1/views', whole, {
    list: 'risks',
    name: `canary ${Math.random()}`,
    query: 'project=CANARY',
  });
  for (const project of [undefined, ['CANARY'], ['SEEN', 'CANARY']])
    await service.make('/v1/reports', whole, { title: 'canary', since: '2026-01-01', project });
  const limits = [null, ['CANARY'], ['SEEN', 'CANARY']];
  const keys: string[] = [];
  const webhooks: string[] = [];
  for (const project_ids of limits) {
    const key = await service.make('/v1/keys', whole, {
      name: 'canary',
      scopes: ['keys.manage'],
      project_ids,
    });
    keys.push(key.id);
    const target = { url: 'https://example.com/canary', types: ['*'], project_ids };
    const webhook = await service.make('/v1/webhooks', whole, target);
    await service.database.write((db) => createTest(db, webhook, bySystem(systemClock()), service.origin));
    webhooks.push(webhook.id);
  }
  const known = JSON.stringify(dataset);
  const ids = (
    JSON.stringify([filled, old, keys, webhooks]).match(/\b[a-z]{3}_[0-9a-v]{26}\b/g) ?? []
  ).filter((id) => !known.includes(id));
  return { ...filled, keys, webhooks, ids: new Set(ids) };
}

type Shared = {
  service: TestService;
  whole: string;
  clock: Clock & { set(time: string): void };
  person: string;
  group: string;
};

/** A project with every kind of content and two months of changes. */
async function fill({ service, whole, clock, person, group }: Shared, key: string, mark: string) {
  const at = `/v1/projects/${key}`;
  const make = (path: string, body: object) => service.make(path, whole, { description: mark, ...body });
  const change = async (method: string, path: string, body?: object) => {
    const response = await service.call(method, `${at}${path}`, whole, body);
    assert.ok(response.status < 300, response.text);
  };
  clock.set(`${first}T08:00:00Z`);
  const project = await make('/v1/projects', {
    name: `${key} ${mark}`,
    key,
    external_id: key,
    lead_user_id: person,
    due_on: '2026-11-10',
  });
  const risk = (n: number, body: object) =>
    make(`${at}/risks`, { title: `Risk ${n} ${mark}`, external_id: `ext-${n}`, category: mark, ...body });
  const top = await risk(1, { probability: 5, impact: 5, owner_user_id: person, review_on: second });
  const owned = await risk(2, { probability: 3, impact: 3, owner_group_id: group, due_on: '2026-12-24' });
  const vague = await risk(3, { kind: 'opportunity', raised_by_user_id: person });
  const small = await risk(4, { probability: 2, impact: 1, strategy: 'accept', response_plan: mark });
  const gone = await risk(5, { probability: 4, impact: 4 });
  const issue = await make(`${at}/issues`, {
    title: `Issue ${mark}`,
    severity: 'critical',
    external_id: 'ext-1',
    assignee_user_id: person,
    owner_group_id: group,
    risk_id: owned.id,
    due_on: second,
  });
  const solved = await make(`${at}/issues`, { title: `Solved ${mark}`, owner_user_id: person });
  const task = await make(`${at}/tasks`, {
    title: `Task ${mark}`,
    external_id: 'ext-1',
    assignee_user_id: person,
    risk_id: owned.id,
    due_on: second,
  });
  const done = await make(`${at}/tasks`, { title: `Done ${mark}`, issue_id: issue.id });

  clock.set(`${second}T08:00:00Z`);
  await change('PATCH', `/risks/${top.id}`, { probability: 4, reason: mark });
  await change('PATCH', `/risks/${small.id}`, {
    status: 'accepted',
    acceptance_reason: mark,
    accepted_until: '2026-12-01',
  });
  await change('DELETE', `/risks/${gone.id}`);
  await change('PATCH', `/issues/${solved.id}`, { status: 'resolved', resolution: 'fixed' });
  await change('POST', '/archive');
  clock.set(`${third}T08:00:00Z`);
  await change('POST', '/unarchive');
  await change('PATCH', `/risks/${vague.id}`, { title: `Vague ${mark}` });
  await change('POST', `/risks/${owned.id}/materialize`, { reason: mark });
  await change('PATCH', `/tasks/${done.id}`, { status: 'done' });
  await change('PATCH', '', { appetite: 8 });
  const { id } = await service.make(`${at}/risks/${top.id}/comments`, whole, { body: mark });
  return {
    project,
    risk: top,
    issue,
    task,
    comment: { id },
    others: [owned, vague, small, gone, solved, done],
  };
}

type Operation = {
  operationId: string;
  security: { key: string[] }[];
  parameters?: Parameter[];
  requestBody?: unknown;
};
type Parameter = { name: string; in: string; schema: Schema };
type Schema = { type?: string; enum?: string[]; items?: Schema; format?: string; pattern?: string };

function* operationsOf({
  app,
}: TestService): Generator<[method: string, path: string, operation: Operation]> {
  const { paths } = dereferenced(app.swagger()) as { paths: Record<string, Record<string, Operation>> };
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.security.length > 0) yield [method.toUpperCase(), path, operation];
    }
  }
}

/** Every GET that the limited key can send, with each parameter in turn, and lists in pages and all formats. */
function questionsTo(dataset: Dataset): string[] {
  const questions = [
    '/v1/projects/CANARY',
    '/v1/risks?project=CANARY',
    '/v1/projects/SEEN/risks/CANARY-R1',
    '/v1/risks?status=all&archived=any&as_of=2026-09-15&limit=2',
    `/v1/risks?archived=any&include=movement&since=${first}`,
    `/v1/risks?change=up,down,new&sort=-change&since=${first}`,
  ];
  for (const [method, route, { parameters = [] }] of operationsOf(dataset.service)) {
    if (method !== 'GET' || ['/metrics', '/v1/events/stream'].includes(route)) continue;
    const path = withOwnIds(route, dataset).replace('{project_id}', 'SEEN');
    questions.push(path, path.replace('/SEEN', `/${dataset.seen}`), path.replace('/SEEN', '/OLD'));
    // A few points are enough.
    const also = route.endsWith('/trend') ? '&interval=week&from=2026-10-30' : '';
    for (const parameter of parameters.filter((parameter) => parameter.in === 'query')) {
      for (const value of samplesOf(parameter, dataset))
        questions.push(`${path}?${parameter.name}=${value}${also}`);
    }
    if (!parameters.some(({ name }) => name === 'cursor')) continue;
    questions.push(`${path}?limit=2&count=true`, `${path} text/csv`, `${path} application/x-ndjson`);
  }
  return [...new Set(questions)];
}

function withOwnIds(path: string, dataset: Dataset): string {
  const own: Record<string, string> = {
    'risks/{id}': dataset.risk,
    'issues/{id}': dataset.issue,
    'tasks/{id}': dataset.task,
    'groups/{id}': dataset.group,
    'keys/{id}': dataset.key,
    'webhooks/{id}': dataset.webhook,
    'views/{id}': dataset.view,
    'mappings/{id}': dataset.mapping,
    'reports/{id}': dataset.report,
    'categories/{id}': dataset.category,
    'personnel/{user_id}': dataset.person,
    'members/{user_id}': dataset.person,
  };
  return path.replace('{comment_id}', dataset.comment).replace(/(\w+)\/\{(id|user_id)\}/g, (place, noun) => {
    assert.ok(own[place], `Say here what stands for ${place} of ${path}.`);
    return `${noun}/${own[place]}`;
  });
}

function samplesOf({ name, schema }: Parameter, dataset: Dataset): string[] {
  const { enum: values, type, format, pattern = '' } = schema.items ?? schema;
  if (['limit', 'cursor', 'columns', 'include', 'since', 'from', 'to', 'interval'].includes(name)) return [];
  if (name === 'project') return ['SEEN', 'OLD', `SEEN,${dataset.fresh}`];
  if (values) return [values[0] ?? '', values.at(-1) ?? ''];
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'integer') return ['2', '4'];
  if (format === 'date') return [second];
  if (format === 'date-time') return [`${second}T00:00:00Z`];
  const kinds = { usr: dataset.person, grp: dataset.group, rsk: dataset.risk, iss: dataset.issue };
  for (const [kind, id] of Object.entries(kinds)) if (pattern.startsWith(`^${kind}_`)) return [id];
  const texts: Record<string, string> = {
    q: 'a',
    email: 'ada@example.com',
    external_id: 'ext-1',
    category: 'plain',
    skill: 'steam',
    department: 'Works',
    location: 'London',
    subject: dataset.risk,
    key_id: dataset.key,
  };
  assert.ok(texts[name], `Say here what to ask for with ${name}.`);
  return [texts[name]];
}

/** All pages of a response, without headers and fields that differ between requests. */
async function responsesTo(service: TestService, key: string, question: string): Promise<unknown[]> {
  const [path = '', accept = 'application/json'] = question.split(' ');
  const responses: unknown[] = [];
  for (let cursor = ''; ; ) {
    const response = await service.get(`${path}${cursor}`, key, { accept });
    assert.ok(response.status < 500, `${question} returned ${response.text}`);
    const headers = [...response.headers].filter(
      ([name]) => !/^(date|connection|keep-alive|.*request-id)$/.test(name),
    );
    responses.push([response.status, headers, withoutRequestId(response.text)]);
    if (!response.body?.page?.next_cursor) return responses;
    cursor = `&cursor=${response.body.page.next_cursor}`;
  }
}

/** The events that the stream sends to the limited key, up to one that is added at the end. */
async function readStream({ service, limited, whole }: Dataset): Promise<string> {
  // A response that nothing refers to any more is collected, which ends its body.
  const response = await fetch(`${service.origin}/v1/events/stream?after=0`, {
    headers: { authorization: `Bearer ${limited}` },
  });
  await service.make('/v1/groups', whole, { name: 'The end' });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('The end')) break;
  }
  return text;
}

const withoutRequestId = (text: string) => text.replace(/"request_id":"[^"]*"/, '');

type Request = [method: string, path: string, body?: unknown];
type Hidden = Awaited<ReturnType<typeof makeHidden>>;

/** Every request to a resource in a project, addressed to a hidden resource. */
function requestsFor(service: TestService, { project, risk, issue, task, comment }: Hidden): Request[] {
  const bodies: Record<string, object> = {
    POST: { title: 'x' },
    PATCH: { title: 'x' },
    comment: { body: 'x' },
    updateProject: { name: 'x' },
    materializeRisk: {},
  };
  const byId: Record<string, string> = { risks: risk.id, issues: issue.id, tasks: task.id };
  const byKey: Record<string, string> = { risks: 'CANARY-R1', issues: 'CANARY-I1', tasks: 'CANARY-T1' };
  return [...operationsOf(service)].flatMap(([method, path, { operationId, requestBody }]): Request[] => {
    if (!path.includes('{project_id}')) return [];
    const usual = path.includes('/comments') ? 'comment' : method;
    const body = requestBody ? (bodies[operationId] ?? bodies[usual]) : undefined;
    const filled = (ref: string, ids: Record<string, string>) =>
      path
        .replace('{project_id}', ref)
        .replace('{comment_id}', comment.id)
        .replace(/(\w+)\/\{id\}/, (_, noun) => `${noun}/${ids[noun]}`);
    const urls = [filled(project.id, byId), filled('CANARY', byKey)];
    if (path.includes('{id}')) urls.push(filled('SEEN', byId), filled('SEEN', byKey));
    return urls.map((url) => [method, url, body]);
  });
}

/** Requests to visible resources that reference a hidden one. */
function requestsNaming(
  { key, webhook, risk: own }: Dataset,
  { project, risk, issue, task, keys, webhooks }: Hidden,
): Request[] {
  const make = { name: 'x', scopes: ['projects.read'] };
  return [
    ['GET', '/v1/risks?project=CANARY'],
    ['GET', `/v1/risks?project=SEEN,${project.id}`],
    ['GET', `/v1/risks/summary?project=${project.id}`],
    ['GET', '/v1/risks/heatmap?project=CANARY'],
    ['GET', '/v1/risks/trend?project=CANARY'],
    ['GET', '/v1/issues?project=CANARY'],
    ['GET', `/v1/issues/summary?project=${project.id}`],
    ['GET', '/v1/tasks?project=CANARY'],
    ['GET', `/v1/issues?risk_id=${risk.id}`],
    ['GET', `/v1/tasks?status=all&risk_id=${risk.id}`],
    ['GET', `/v1/projects/SEEN/tasks?issue_id=${issue.id}`],
    ['GET', '/v1/risks?status=all&archived=any&q=canary'],
    ['GET', '/v1/risks?as_of=2026-09-15&archived=any&category=canary'],
    ['POST', '/v1/projects/SEEN/issues', { title: 'x', risk_id: risk.id }],
    ['POST', '/v1/projects/SEEN/tasks', { title: 'x', risk_id: risk.id, issue_id: issue.id }],
    ['POST', '/v1/bulk/risks', { items: [{ id: own }, { id: risk.id }], changes: { title: 'x' } }],
    ['POST', '/v1/bulk/risks', { items: [{ id: 'CANARY-R1', changes: { title: 'x' } }] }],
    ['POST', '/v1/bulk/issues', { items: [{ id: issue.id }], changes: { title: 'x' } }],
    ['POST', '/v1/bulk/tasks', { items: [{ id: task.id, version: 1 }], changes: { title: 'x' } }],
    ['POST', '/v1/keys', { ...make, project_ids: ['CANARY'] }],
    ['POST', '/v1/keys', { ...make, project_ids: ['SEEN', project.id] }],
    ['PATCH', `/v1/keys/${key}`, { project_ids: ['CANARY'] }],
    ['POST', '/v1/webhooks', { url: 'https://example.com/', types: ['*'], project_ids: ['CANARY'] }],
    ['PATCH', `/v1/webhooks/${webhook}`, { project_ids: ['SEEN', project.id] }],
    ...webhooks.flatMap((id): Request[] => [
      ['GET', `/v1/webhooks/${id}`],
      ['GET', `/v1/webhooks/${id}/history`],
      ['GET', `/v1/webhooks/${id}/deliveries`],
      ['PATCH', `/v1/webhooks/${id}`, { status: 'disabled' }],
      ['DELETE', `/v1/webhooks/${id}`],
      ['POST', `/v1/webhooks/${id}/test`],
      ['POST', `/v1/webhooks/${id}/rotate`],
      ['POST', `/v1/webhooks/${id}/replay`, { after: 0 }],
    ]),
    ...keys.flatMap((id): Request[] => [
      ['GET', `/v1/keys/${id}`],
      ['GET', `/v1/keys/${id}/history`],
      ['PATCH', `/v1/keys/${id}`, { name: 'x' }],
      ['DELETE', `/v1/keys/${id}`],
      ['POST', `/v1/keys/${id}/rotate`, {}],
    ]),
  ];
}

/** The same text, with hidden ids replaced by ids that never existed. */
const madeUp = (text: string, ids: Iterable<string>) =>
  [...ids].reduce(
    (named, id) => named.replaceAll(id, `${id.slice(0, 4)}${'0'.repeat(26)}`),
    text.replaceAll('CANARY', 'CANARI').replaceAll('canary', 'canari'),
  );

async function everything({ database: { db } }: TestService): Promise<unknown> {
  return [
    await db.selectFrom('projects').selectAll().orderBy('id').execute(),
    await db.selectFrom('risks').selectAll().orderBy('id').execute(),
    await db.selectFrom('past_risks').selectAll().orderBy('id').orderBy('version').execute(),
    await db.selectFrom('issues').selectAll().orderBy('id').execute(),
    await db.selectFrom('tasks').selectAll().orderBy('id').execute(),
    // Without `last_used_at`, which is saved once a minute.
    await db
      .selectFrom('keys')
      .select(['id', 'version', 'name', 'scopes', 'project_ids', 'revoked_at', 'hash'])
      .orderBy('id')
      .execute(),
    await db.selectFrom('webhooks').selectAll().orderBy('id').execute(),
    await db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute(),
    await db.selectFrom('history').selectAll().orderBy('id').execute(),
  ];
}

/** A file of one row is a line of JSON. */
const typeFor = (path: string) =>
  path.endsWith('/import') ? { 'content-type': 'application/x-ndjson' } : undefined;
