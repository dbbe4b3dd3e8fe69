import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { demoDatabase, migratedDatabase } from '../../test/databases.ts';
import { mainFile, temporaryFolder } from '../../test/process.ts';
import { onBothEngines, startTestService, type TestService, withKey } from '../../test/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const lists = {
  personnel: '/v1/personnel',
  groups: '/v1/groups?include=members',
  projects: '/v1/projects',
  risks: '/v1/projects/APOLLO/risks',
  issues: '/v1/projects/APOLLO/issues',
  tasks: '/v1/projects/APOLLO/tasks',
};

const types = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** Texts that need escaping in at least one format. */
const awkward = [
  '=1+1',
  "'=1",
  '+44 20',
  '@x',
  'a, "b"; c',
  'Zoë 𝒜',
  '_x000D_',
  '<&>',
  '[1]',
  '{"a":1}',
  '007',
  'null',
  'TRUE',
];

onBothEngines('an exported file', (start, engine) => {
  test('changes nothing when it is imported again, for every list and format', async (t) => {
    const { service, key } = await withKey(start(t));
    await fill(service, key);
    for (const [noun, path] of Object.entries(lists)) {
      const before = await service.get(path, key);
      assert.ok(before.body.data.length >= 3, noun);
      for (const [format, type] of Object.entries(types)) {
        const file = await download(service, key, `${path}${path.includes('?') ? '&' : '?'}format=${format}`);
        const { body, text } = await service.upload(
          `${path.split('?')[0]}/import?mode=upsert`,
          key,
          file,
          type,
        );
        assert.deepEqual(
          [body.summary?.unchanged, body.summary?.rows],
          [before.body.data.length, before.body.data.length],
          `${noun} ${format} ${text}`,
        );
        const imported = await service.upload(`${path.split('?')[0]}/import`, key, file, type);
        assert.deepEqual(
          [imported.body.summary.failed, imported.body.summary.created],
          [before.body.data.length, 0],
          `${noun} ${format} is not created twice`,
        );
      }
      assert.deepEqual((await service.get(path, key)).body, before.body, noun);
    }
  });

  test('restores the exported values after changes', async (t) => {
    const { service, key } = await withKey(start(t));
    await fill(service, key);
    for (const [noun, path] of Object.entries({
      personnel: lists.personnel,
      projects: lists.projects,
      tasks: lists.tasks,
    })) {
      const before = await service.list(path, key);
      const file = await download(service, key, `${path}?format=csv`);
      const base = path.split('?')[0];
      for (const row of before) {
        const change =
          noun === 'tasks'
            ? { title: 'changed', due_on: '2099-01-01' }
            : { name: 'changed', attributes: { b: 'c' } };
        assert.equal((await service.patch(`${base}/${row.user_id ?? row.id}`, key, change)).status, 200);
      }
      const { body } = await service.upload(`${base}/import?mode=upsert`, key, file, types.csv);
      assert.deepEqual([body.summary.updated, body.summary.failed], [before.length, 0], noun);
      assert.deepEqual((await service.list(path, key)).map(fieldsOnly), before.map(fieldsOnly), noun);
    }
  });

  test('creates the same roster in another service', async (t) => {
    const { service, key } = await withKey(start(t));
    await fill(service, key);
    const other = await start(t);
    const otherKey = await other.key();
    const byName = async (at: TestService, secret: string) => {
      const people: Any[] = (await at.get(lists.personnel, secret)).body.data;
      const names = new Map(people.map(({ user_id, name }) => [user_id, name]));
      return people
        .map(({ user_id, manager_user_id, accountable_user_id, groups, web_url, ...person }) => ({
          ...fieldsOnly(person),
          manager: names.get(manager_user_id),
          accountable: names.get(accountable_user_id),
        }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    };
    const file = await download(service, key, `${lists.personnel}?format=csv`);
    const { body } = await other.call('POST', '/v1/personnel/import?atomic=true', otherKey, file, {
      'content-type': types.csv,
    });
    assert.equal(body.summary.failed, 0, JSON.stringify(body));
    assert.deepEqual(await byName(other, otherKey), await byName(service, key));
  });

  // It takes seconds, and each format is read in the same way on both engines.
  test('moves the demo to an empty service, and changes nothing the second time', async (t) => {
    const service = await startTestService(t, 'sqlite', { target: await demoDatabase() });
    const key = await service.key();
    const other = await start(t);
    const otherKey = await other.key();
    const format = engine === 'sqlite' ? 'xlsx' : 'ndjson';
    for (const mode of ['first', 'second']) {
      for (const [path, at] of moves) {
        const file = await download(service, key, `${path}&format=${format}`);
        const { body, text } = await other.upload(`${at}?mode=upsert`, otherKey, file, types[format]);
        assert.equal(body.summary?.failed, 0, `${path} ${text}`);
        const changed = body.summary.created + body.summary.updated;
        if (mode === 'second') assert.equal(changed, 0, `${path} ${text}`);
      }
    }
    assert.deepEqual(await contentOf(other, otherKey), await contentOf(service, key));
  });

  test('moves everything by the documented commands, over HTTP and on the command line', async (t) => {
    const service = await startTestService(t, 'sqlite', { target: await demoDatabase() });
    const key = await service.key();
    const ada = await service.make('/v1/personnel', key, { name: 'CN=Ada,OU=x' });
    await service.make('/v1/projects', key, { key: 'CNADA', name: 'Names', lead_user_id: ada.user_id });
    await service.make('/v1/projects/CNADA/risks', key, { title: 'r', owner_user_id: ada.user_id });
    const target = await migratedDatabase(engine);
    const other = await startTestService(t, engine, { target });
    const otherKey = await other.key();
    const last = await migratedDatabase(engine);
    const [getFiles = '', sendFiles = '', exportFiles = '', importFiles = ''] = documentedCommands();
    const folder = temporaryFolder(t);
    await run(folder, getFiles, { API: `${service.origin}/v1`, KEY: key });
    await run(folder, sendFiles, { API: `${other.origin}/v1`, KEY: otherKey });
    const expected = await contentOf(service, key);
    assert.ok(
      expected.every((rows) => rows.length > 10) && expected.flat().some((row) => row.includes('CN=Ada')),
    );
    assert.deepEqual(await contentOf(other, otherKey), expected);
    const second = temporaryFolder(t);
    await run(second, exportFiles, { MUSTER_DATABASE_URL: target.url });
    await run(second, importFiles, { MUSTER_DATABASE_URL: last.url });
    const third = await startTestService(t, engine, { target: last });
    assert.deepEqual(await contentOf(third, await third.key()), expected);
  });
});

/** The commands under “Moving to another service”, in their order. */
const documentedCommands = () =>
  [
    ...readFileSync(join(import.meta.dirname, '../../docs/import.md'), 'utf8')
      .replace(/^[\s\S]*\n## Moving to another service\n/, '')
      .matchAll(/```bash\n([\s\S]*?)```/g),
  ].map(([, commands = '']) => commands);

async function run(folder: string, commands: string, environment: Record<string, string>): Promise<void> {
  const script = `set -e\nmuster() { "$NODE" "$MAIN" "$@"; }\n${commands}`;
  const env = { PATH: process.env.PATH, NODE: process.execPath, MAIN: mainFile, ...environment };
  await promisify(execFile)('bash', ['-c', script], { cwd: folder, env, maxBuffer: 2 ** 26 });
}

/** The lists of everything that can be exported, and where each is imported, in that order. */
const moves = [
  ['/v1/personnel?', '/v1/personnel/import'],
  ['/v1/groups?include=members', '/v1/groups/import'],
  ['/v1/projects?archived=any', '/v1/projects/import'],
  ['/v1/risks?status=all&archived=any', '/v1/imports/risks'],
  ['/v1/issues/all?archived=any', '/v1/imports/issues'],
  ['/v1/tasks?status=all&archived=any', '/v1/imports/tasks'],
  // The second time, projects are archived.
  ['/v1/projects?archived=any', '/v1/projects/import'],
] as const;

/** Everything of a service, with names instead of ids, and without what a new service decides itself. */
async function contentOf(service: TestService, key: string) {
  const all: Any[][] = [];
  for (const [path] of moves) all.push(await service.list(path, key));
  const names = new Map<string, string>();
  for (const one of all.flat())
    names.set(one.user_id ?? one.id, one.name ?? `${one.project_key} ${one.title} ${one.external_id}`);
  const named = (row: Any) => {
    // `initial_score` and the check of old risks follow from the history, which stays behind.
    const { user_id, id, project_id, web_url, groups, initial_score, ...fields } = fieldsOnly(row);
    const texts = Object.entries(fields).map(([name, value]) => {
      const isReference = /_(user_|group_|risk_|issue_)?ids?$/.test(name) && name !== 'external_id';
      const ids = [value].flat().filter((one) => one !== null);
      // Workbooks have no milliseconds.
      if (name === 'archived_at') return [name, String(value).slice(0, 19)];
      if (name === 'checks') return [name, ids.filter((check) => check !== 'stale_90d')];
      return [name, isReference ? ids.map((one) => names.get(one as string) ?? one).sort() : value];
    });
    return JSON.stringify(Object.fromEntries(texts));
  };
  return all.map((rows) => rows.map(named).sort());
}

const fieldsOnly = ({ version, created_at, updated_at, rank, ...fields }: Any) => fields;

async function download({ origin }: TestService, key: string, path: string): Promise<Uint8Array> {
  const response = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  const file = new Uint8Array(await response.arrayBuffer());
  assert.equal(response.status, 200, Buffer.from(file).toString());
  return file;
}

/** Creates every resource, with each field set and unset, each status, and awkward texts. */
async function fill(service: TestService, key: string): Promise<void> {
  const make = (path: string, body: object) => service.make(path, key, body);
  const attributes = Object.fromEntries(
    awkward.map((text, i) => [`key ${i} ${text.replace(/\W/g, '')}`.trim(), text]),
  );
  const ada = await make('/v1/personnel', {
    name: 'Ada',
    email: 'ada@example.com',
    external_id: 'hr,1',
    attributes,
    start_on: '2020-01-01',
    end_on: '2999-01-01',
  });
  const people: Any[] = [];
  for (const [i, text] of awkward.entries()) {
    people.push(
      await make('/v1/personnel', {
        name: text,
        title: text,
        phone: text,
        department: 'Ops',
        time_zone: 'Europe/Paris',
        manager_user_id: (people.at(-1) ?? ada).user_id,
        skills: [text, `b ${text}`],
        status: i % 2 === 0 ? 'active' : 'inactive',
      }),
    );
  }
  await make('/v1/personnel', { name: 'Robot', kind: 'agent', accountable_user_id: ada.user_id });
  // Two people with the same name and no other identifying field.
  await make('/v1/personnel', { name: 'John Smith' });
  await make('/v1/personnel', { name: 'John Smith' });
  const ops = await make('/v1/groups', {
    name: 'Ops, =1',
    description: 'a\nb',
    lead_user_id: ada.user_id,
    external_id: 'g;1',
  });
  const sub = await make('/v1/groups', { name: 'Sub', parent_id: ops.id });
  await make('/v1/groups', { name: 'Empty' });
  await service.post(`/v1/groups/${ops.id}/members`, key, {
    user_ids: [ada, ...people].map(({ user_id }) => user_id),
  });

  await make('/v1/projects', {
    key: 'APOLLO',
    name: 'Apollo',
    lead_user_id: ada.user_id,
    start_on: '2026-01-01',
    due_on: '2026-12-31',
    attributes,
    external_id: '1',
  });
  await make('/v1/projects', {
    name: '=Zeus',
    description: awkward.join('\n'),
    status: 'on_hold',
    appetite: 3,
  });
  await make('/v1/projects', { name: 'Hera' });

  const risks = '/v1/projects/APOLLO/risks';
  const patch = async (path: string, body: object) => {
    const response = await service.patch(path, key, body);
    assert.equal(response.status, 200, response.text);
  };
  for (const [i, text] of awkward.entries()) {
    await make(risks, {
      title: text,
      description: text,
      category: text,
      probability: (i % 5) + 1,
      impact: 5,
      residual_probability: 1,
      residual_impact: 1,
      strategy: 'avoid',
      response_plan: text,
      owner_user_id: people[i].user_id,
      raised_by_user_id: ada.user_id,
      raised_on: '2026-01-01',
      due_on: '2027-01-01',
      review_on: '2026-06-01',
      external_id: text,
      source_url: 'https://example.com/?a=1&b=2',
      attributes,
    });
  }
  await make(risks, { title: 'unassessed', owner_group_id: sub.id });
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  await patch(`${risks}/APOLLO-R1`, {
    status: 'accepted',
    acceptance_reason: 'Insured.',
    accepted_until: soon,
    accepted_by_user_id: ada.user_id,
  });
  await patch(`${risks}/APOLLO-R2`, { status: 'closed', closure_reason: 'Gone.', lessons: '- none' });
  await make(`${risks}/APOLLO-R3/materialize`, {});

  const issues = '/v1/projects/APOLLO/issues';
  await make(issues, {
    title: '=x',
    severity: 'critical',
    priority: 'urgent',
    status: 'blocked',
    blocked_reason: 'a; b',
    owner_group_id: ops.id,
    assignee_user_id: ada.user_id,
    external_id: 'i',
    attributes,
  });
  await make(issues, { title: 'y', owner_user_id: ada.user_id });
  await patch(`${issues}/APOLLO-I3`, { status: 'resolved', resolution: 'wont_fix' });
  await patch(`${issues}/APOLLO-I3`, { status: 'closed' });

  const { body: risk } = await service.get(`${risks}/APOLLO-R4`, key);
  const { body: issue } = await service.get(`${issues}/APOLLO-I1`, key);
  const tasks = '/v1/projects/APOLLO/tasks';
  await make(tasks, {
    title: "'=x",
    kind: 'mitigation',
    status: 'in_progress',
    assignee_user_id: ada.user_id,
    start_on: '2026-01-01',
    due_on: '2026-02-01',
    risk_id: risk.id,
    external_id: 't',
  });
  await make(tasks, { title: 'y', kind: 'resolution', issue_id: issue.id, status: 'done' });
  await make(tasks, { title: 'z' });
}
