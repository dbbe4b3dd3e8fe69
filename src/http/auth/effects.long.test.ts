import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, type TestService } from '../../../test/service.ts';
import { grants, type Scope, scopes } from '../../core/scopes.ts';
import { type SubjectType, subjects } from '../../resources/events/schema.ts';
import { type MappedList, mappingScopes } from '../../resources/mappings/schema.ts';
import { presets } from '../../resources/risk-model/presets.ts';
import { type ViewedList, viewScopes } from '../../resources/views/schema.ts';
import { createTest } from '../../resources/webhooks/deliveries.ts';
import { type TableName, tableNames } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';

/**
 * The access matrix by effect: every operation is sent with every kind of key, to a service that contains recognizable data
 * of people and of projects. A key changes only tables of the areas that it manages, and its responses contain nothing of
 * an area that it may not read. That is decided before the database is asked; project-limits.long.test.ts tests on both
 * engines what queries leave out.
 */
onSqlite('effects of every operation', (start) => {
  test('stay within the areas of the key, and so does the response', async (t) => {
    const resolve = (_: unknown, __: unknown, callback: (error: Error) => void) =>
      callback(new Error('no network in this test'));
    const service = await start(t, { webhooks: { resolve: resolve as never } });
    const keys = await createKeys(service);
    const dataset = await createDataset(service, keys.all.secret);
    const rows = await createTableReader(service);
    const failures: string[] = [];
    const responsesOfAll = new Map<string, string>();

    for (const operation of operationsOf(service)) {
      const { operationId, method, path, access } = operation;
      for (const [variant, request] of requestsOf(operation, dataset).entries()) {
        const url = withIds(path, dataset, request.ids) + (request.query ?? '');
        // The stream has no end. Its events are those of the list.
        const sent = operationId === 'streamEvents' ? 'HEAD' : method;
        const headers = typeof request.body === 'string' ? { 'content-type': 'text/csv' } : {};
        const name = `${operationId} ${variant}`;
        const send = async (tested: readonly TestKey[]) => {
          const responses = await Promise.all(
            tested.map((key) => service.call(sent, url, key.secret, request.body, headers)),
          );
          for (const [i, { name: keyName, granted, secret }] of tested.entries()) {
            const { status, text, headers } = responses[i] ?? {};
            const where = `${name} with ${keyName} (${status})`;
            assert.ok(status && status < 500, `${where}: ${text}`);
            const received = withoutSent(`${JSON.stringify([...(headers ?? [])])}${text}`, request.body);
            for (const found of foreignContent(received, granted))
              failures.push(`${where} contains ${found}`);
            if (secret !== keys.all.secret) continue;
            responsesOfAll.set(name, text ?? '');
            if (method === 'GET') assert.equal(status, 200, `${where}: ${text}`);
          }
          const changed = await rows.changedAreas();
          const managed = tested.length === 1 ? (tested[0]?.granted ?? []) : [];
          const where = `${name} with ${tested.map((key) => key.name).join(' or ')}`;
          for (const [area, tables] of changed) {
            if (!managed.includes(`${area}.manage` as Scope)) failures.push(`${where} changed ${tables}`);
          }
          if (changed.size > 0) await rows.restore();
          return changed.size > 0;
        };
        const may = (key: TestKey) => access === undefined || grants(key.granted, access);
        const tested = [...keys.others, ...dataset.limitedKeys];
        if (method === 'GET') {
          await send([...tested, keys.all]);
          continue;
        }
        await send(tested.filter((key) => !may(key)));
        for (const key of tested.filter(may)) await send([key]);
        const isChanged = await send([keys.all]);
        if (variant === 0 && !changesNothing.has(operationId))
          assert.ok(isChanged, `${name} changed nothing: ${responsesOfAll.get(name)}`);
      }
    }
    assert.deepEqual(failures, []);

    // With all scopes, the same requests do reach the other area; otherwise the checks above would find nothing.
    for (const [request, content] of [
      ['deactivatePerson 0', /MARK/],
      ['deactivatePerson 1', /"risks":1/],
      ['deletePerson 1', /MARK-R\d/],
      ['deleteGroup 1', /MARK-I\d/],
      ['listEvents 0', /projectmark.*personmark|personmark.*projectmark/s],
      ['listPersonnel 0', /personmark/],
      ['listRisks 0', /projectmark/],
      ['importRisks 1', /"created":1/],
      ['importRisks 2', /"created":1/],
      ['createTask 1', /is inactive/],
    ] as const) {
      assert.match(responsesOfAll.get(request) ?? '', content, request);
    }
  });
});

type Operation = {
  operationId: string;
  method: string;
  path: string;
  requestBody?: unknown;
  /** Undefined if any key may send it. */
  access: Scope | undefined;
};

/** All operations that need a key, from the document that is generated from the routes. */
function operationsOf({ app }: TestService): Operation[] {
  const { paths } = app.swagger() as unknown as {
    paths: Record<string, Record<string, Operation & { security: { key?: Scope[] }[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const [security] = operation.security;
      // Without a key it is public, or for people only: see `access-matrix.test.ts`.
      return security?.key
        ? [{ ...operation, method: method.toUpperCase(), path, access: security.key[0] }]
        : [];
    }),
  );
}

type TestKey = { name: string; granted: readonly Scope[]; secret: string };

async function createKeys(service: TestService) {
  const combined: Scope[][] = [
    ['personnel.manage', 'projects.read'],
    ['personnel.read', 'projects.manage'],
    ['personnel.manage', 'events.manage'],
    ['projects.manage', 'events.manage'],
  ];
  const others = await Promise.all(
    [...scopes.map((scope) => [scope]), ...combined].map(
      async (granted): Promise<TestKey> => ({
        name: granted.join(' and '),
        granted,
        secret: await service.key(...granted),
      }),
    ),
  );
  const all: TestKey = { name: 'all scopes', granted: scopes, secret: await service.key() };
  return { others, all };
}

type Dataset = Awaited<ReturnType<typeof createDataset>>;

/** People with private fields, and a project with an item of every kind that refers to one of them. */
async function createDataset(service: TestService, key: string) {
  const make = (path: string, body: object) => service.make(path, key, body);
  const person = async (name: string, more: object = {}): Promise<string> =>
    (
      await make('/v1/personnel', {
        name: `namemark ${name}`,
        email: `personmark.${name}@example.com`,
        phone: 'personmark 1',
        title: 'personmark title',
        department: 'personmark department',
        location: 'personmark location',
        skills: ['personmark'],
        external_id: `personmark-${name}`,
        attributes: { badge: 'personmark' },
        ...more,
      })
    ).user_id;
  const used = await person('used');
  const heir = await person('heir', { manager_user_id: used });
  const spare = await person('spare');
  const inactive = await person('inactive', { status: 'inactive' });
  const group = await make('/v1/groups', {
    name: `namemark group`,
    description: 'personmark',
    external_id: 'personmark-group',
    lead_user_id: used,
  });
  const spareGroup = await make('/v1/groups', {
    name: `namemark spare`,
    description: 'personmark',
  });
  await service.call('PUT', `/v1/groups/${group.id}/members/${used}`, key);

  const projectKey = 'MARK';
  const at = `/v1/projects/${projectKey}`;
  const project = await make('/v1/projects', {
    name: `projectmark`,
    key: projectKey,
    description: 'projectmark',
    lead_user_id: used,
  });
  const spareProject = await make('/v1/projects', { name: `projectmark`, key: `MARKE` });
  await make('/v1/projects', { name: 'projectmark', key: 'MARKOLD' });
  await service.call('POST', '/v1/projects/MARKOLD/archive', key);
  const item = (kind: string, body: object = {}) =>
    make(`${at}/${kind}`, { title: 'projectmark', description: 'projectmark', ...body });
  const risk = await item('risks', {
    owner_user_id: used,
    probability: 3,
    impact: 3,
    category: 'projectmark',
  });
  await item('risks', { owner_group_id: group.id });
  const spareRisk = await item('risks', { probability: 2, impact: 2 });
  const issue = await item('issues', { assignee_user_id: used, owner_group_id: group.id, risk_id: risk.id });
  const spareIssue = await item('issues');
  const task = await item('tasks', { assignee_user_id: used, risk_id: risk.id, issue_id: issue.id });
  // Has handed over a task and a report.
  const gone = await person('gone');
  await person('report', { manager_user_id: gone });
  await item('tasks', { assignee_user_id: gone });
  const successor = { handover_to_user_id: await person('taker') };
  const handedOver = await service.post(`/v1/personnel/${gone}/deactivate`, key, successor);
  const body = `projectmark @${used}`;
  const commentOn = async (path: string): Promise<string> =>
    (await make(`${at}${path}/comments`, { body })).id;
  const comments = {
    risks: await commentOn(`/risks/${risk.id}`),
    issues: await commentOn(`/issues/${issue.id}`),
    tasks: await commentOn(`/tasks/${task.id}`),
    projects: await commentOn(''),
  };
  const view = async (list: ViewedList): Promise<string> =>
    (
      await make('/v1/views', {
        list,
        name: list === 'personnel' ? 'personmark' : 'projectmark',
        query: 'sort=name',
      })
    ).id;
  const views = [await view('risks'), await view('personnel')] as const;
  const category = async (name: string): Promise<string> => (await make('/v1/categories', { name })).id;
  const categories = [await category('projectmark'), await category('other')] as const;
  const mapping = async (list: MappedList): Promise<string> =>
    (
      await make('/v1/mappings', {
        list,
        name: list === 'personnel' ? 'personmark' : 'projectmark',
        query: 'preset=none',
      })
    ).id;
  const mappings = [await mapping('risks'), await mapping('personnel')] as const;
  const { id: report } = await make('/v1/reports', { title: 'projectmark', since: '2026-01-01' });
  const { id: storedKey } = await make('/v1/keys', { name: 'stored', scopes: ['keys.read'] });
  const member = (await make('/v1/personnel', { name: 'member', email: 'member@example.com' }))
    .user_id as string;
  await service.call('PUT', `/v1/personnel/${member}/access`, key, { scopes: ['projects.read'] });
  const session = await service.signIn(member);
  const webhook = await make('/v1/webhooks', { url: 'https://example.com/', types: ['*'] });
  const delivery = await service.database.write(async (db) => {
    const test = await createTest(db, webhook, bySystem(service.app.clock()), service.origin);
    // Only a delivery that is no longer pending can be sent again.
    await db.updateTable('webhook_deliveries').set({ next_attempt_at: null }).execute();
    return test.id;
  });
  const limitedTo = async (...granted: Scope[]) => ({
    name: `${granted} limited to a project`,
    granted,
    secret: await service.limitedKey([project.id, spareProject.id], ...granted),
  });
  const limitedKeys = [await limitedTo('personnel.manage'), await limitedTo('projects.manage')];
  return {
    person: { used, heir, spare, inactive, gone },
    handover: handedOver.body.handover_id as string,
    group: group.id as string,
    spareGroup: spareGroup.id as string,
    projectKey,
    spareProject: `MARKE`,
    risk: risk.id as string,
    spareRisk: spareRisk.id as string,
    issue: issue.id as string,
    spareIssue: spareIssue.id as string,
    task: task.id as string,
    comments,
    views,
    categories,
    mappings,
    report: report as string,
    key: storedKey as string,
    webhook: webhook.id as string,
    delivery,
    member,
    session: session.id,
    limitedKeys,
  };
}

type Ids = Partial<
  Record<'user_id' | 'group' | 'project_id' | 'risks' | 'issues' | 'view' | 'mapping', string>
>;
type Request = { body?: unknown; query?: string; ids?: Ids };

const fourByFour = presets.find(({ id }) => id === 'four_by_four')?.model;

/** Operations other than GET that change nothing. */
const changesNothing = new Set(['evaluateRisk']);

/** The requests of an operation. The first one changes something if the key may send it. */
function requestsOf({ operationId, path, requestBody }: Operation, dataset: Dataset): Request[] {
  const { used, heir, spare, inactive } = dataset.person;
  const { group, spareGroup, projectKey, risk, issue, task } = dataset;
  const asSpare = { user_id: spare };
  const asGone = { ids: { user_id: dataset.person.gone } };
  const ofMember = { ids: { user_id: dataset.member } };
  const csv = (header: string, row: string) => ({ body: `${header}\n${row}\n` });
  const owner = (text: string) => csv('title,owner', `projectmark new,${text}`);
  const across = [csv('project,title', `${projectKey},new`)];
  const commented = [{ body: { body: `new @${used}` } }];
  const ofGroup = (more = '') => ({ query: `?owner_group_id=${group}${more}` });
  const lists: Request[] = [{}, ofGroup(), ofGroup('&transitive=true'), { query: '?format=csv' }];
  const requests: Record<string, Request[]> = {
    createPerson: [{ body: { name: 'new' } }, { body: { name: 'x', external_id: 'personmark-used' } }],
    importPersonnel: [
      csv('name', 'new'),
      { ...csv('email,title', `personmark.used@example.com,new`), query: '?mode=upsert' },
    ],
    updatePerson: [
      { body: { name: `namemark new`, title: `personmark new` } },
      { body: { status: 'inactive' }, ids: asSpare },
    ],
    deletePerson: [{ ids: asSpare }, {}],
    deactivatePerson: [
      { body: {} },
      { body: { dry_run: true } },
      { body: { handover_to_user_id: heir } },
      { body: { handover_to_user_id: heir, dry_run: true } },
      { body: { handover_to_group_id: group } },
      { body: { handover_to_user_id: heir, handover_to_group_id: group } },
      { body: { handover_to_user_id: inactive } },
      { body: { handover_to_user_id: heir }, ids: asSpare },
    ],
    listHandovers: [asGone],
    listHandoverItems: [asGone],
    undoHandover: [{ body: {}, ...asGone }],
    reactivatePerson: [{ body: {}, ids: { user_id: inactive } }],
    createGroup: [{ body: { name: 'new' } }, { body: { name: 'x', external_id: 'personmark-group' } }],
    importGroups: [csv('name,members', `new,personmark.used@example.com`)],
    updateGroup: [{ body: { description: `personmark new` } }],
    deleteGroup: [{ ids: { group: spareGroup } }, {}],
    listGroups: [{}, { query: '?include=members' }],
    addMembers: [{ body: { user_ids: [spare] }, ids: { group: spareGroup } }],
    addMember: [{ ids: { user_id: heir } }],
    listRisks: lists,
    listIssues: lists,
    listAllIssues: lists,
    listProjectIssues: lists,
    listProjectRisks: lists,
    summarizeRisks: lists.slice(0, 3),
    summarizeIssues: lists.slice(0, 3),
    getRiskHeatmap: lists.slice(0, 3),
    getRiskTrend: lists.slice(0, 3),
    listEvents: [{}, { query: `?project=${projectKey}` }],
    evaluateRisk: [{ body: { probability: 1, impact: 2 } }],
    setRiskModel: [{ body: fourByFour }, { body: fourByFour, query: '?dry_run=true' }],
    createRisk: [{ body: { title: 'projectmark', owner_user_id: used } }],
    importRisks: [owner('namemark used'), owner('personmark.used@example.com'), owner('personmark-group')],
    updateRisk: [{ body: { title: `projectmark new` } }],
    deleteRisk: [{ ids: { risks: dataset.spareRisk } }, {}],
    importRisksAcrossProjects: across,
    updateRisks: [{ body: { items: [{ id: risk }], changes: { title: 'new' } } }],
    materializeRisk: [{ body: { severity: 'high' } }],
    createIssue: [{ body: { title: 'x' } }, { body: { title: 'x', assignee_user_id: inactive } }],
    importIssues: [csv('title', 'new'), csv('title,assignee', 'x,personmark.used@example.com')],
    updateIssue: [{ body: { title: 'new' } }],
    deleteIssue: [{ ids: { issues: dataset.spareIssue } }, {}],
    importIssuesAcrossProjects: across,
    updateIssues: [{ body: { items: [{ id: issue }], changes: { title: 'new' } } }],
    createTask: [{ body: { title: 'x' } }, { body: { title: 'x', assignee_user_id: inactive } }],
    importTasks: [csv('title', 'new')],
    updateTask: [{ body: { title: 'new' } }],
    importTasksAcrossProjects: across,
    updateTasks: [{ body: { items: [{ id: task }], changes: { title: 'new' } } }],
    createProject: [{ body: { name: 'new' } }],
    importProjects: [csv('name,lead', `new,`), csv('name,lead', `new,personmark.used@example.com`)],
    updateProject: [{ body: { description: 'new' } }],
    deleteProject: [{ ids: { project_id: dataset.spareProject } }, {}],
    unarchiveProject: [{ ids: { project_id: 'MARKOLD' } }],
    getView: dataset.views.map((view) => ({ ids: { view } })),
    deleteView: dataset.views.map((view) => ({ ids: { view } })),
    updateView: dataset.views.map((view) => ({ body: { query: `q=new` }, ids: { view } })),
    createView: ['risks', 'personnel'].map((list) => ({
      body: { list, name: 'new', query: 'sort=name' },
    })),
    listLoad: [{ query: `?user_ids=${used}` }],
    previewReport: [{ query: '?since=2026-01-01' }],
    createReport: [{ body: { title: 'new', since: '2026-01-01' } }],
    createCategory: [{ body: { name: 'new' } }],
    updateCategory: [{ body: { name: 'new' } }],
    mergeCategory: [{ body: { into: dataset.categories[1] } }],
    updateOrganization: [{ body: { name: 'new' } }],
    getMapping: dataset.mappings.map((mapping) => ({ ids: { mapping } })),
    deleteMapping: dataset.mappings.map((mapping) => ({ ids: { mapping } })),
    updateMapping: dataset.mappings.map((mapping) => ({ body: { query: 'preset=jira' }, ids: { mapping } })),
    createMapping: ['risks', 'personnel'].map((list) => ({
      body: { list, name: 'new', query: 'preset=jira' },
    })),
    getAccess: [ofMember],
    listAccessHistory: [ofMember],
    setAccess: [{ ...ofMember, body: { scopes: ['keys.read'] } }],
    deleteAccess: [ofMember],
    invitePerson: [ofMember],
    createKey: [{ body: { name: 'new', scopes: ['keys.read'] } }],
    updateKey: [{ body: { name: 'new' } }],
    rotateKey: [{ body: {} }],
    createWebhook: [
      { body: { url: `https://example.com/new`, types: ['*'] } },
      { body: { url: `https://example.com/new`, types: ['risk.*'] } },
    ],
    updateWebhook: [{ body: { description: 'new' } }],
    replayWebhook: [{ body: { after: 0 } }],
  };
  const known = requests[operationId];
  if (known) return known;
  if (/Comment$/.test(operationId) && requestBody) return commented;
  assert.ok(!requestBody, `Say here what to send to ${operationId} (${path}).`);
  return [{}];
}

/** The path with the ids of the dataset, or with those that a request has instead. */
function withIds(path: string, dataset: Dataset, ids: Ids = {}): string {
  const own: Record<string, string> = {
    'risks/{id}': ids.risks ?? dataset.risk,
    'issues/{id}': ids.issues ?? dataset.issue,
    'tasks/{id}': dataset.task,
    'groups/{id}': ids.group ?? dataset.group,
    'keys/{id}': dataset.key,
    'sessions/{id}': dataset.session,
    'webhooks/{id}': dataset.webhook,
    'deliveries/{delivery_id}': dataset.delivery,
    'handovers/{handover_id}': dataset.handover,
    'views/{id}': ids.view ?? dataset.views[0],
    'reports/{id}': dataset.report,
    'categories/{id}': dataset.categories[0],
    'mappings/{id}': ids.mapping ?? dataset.mappings[0],
    'projects/{project_id}': ids.project_id ?? dataset.projectKey,
    'personnel/{user_id}': ids.user_id ?? dataset.person.used,
    'members/{user_id}': ids.user_id ?? dataset.person.used,
  };
  const kind = /(risks|issues|tasks)\/\{id\}\/comments/.exec(path)?.[1] ?? 'projects';
  const comment = dataset.comments[kind as keyof Dataset['comments']];
  return path.replace(/(\w+)\/\{(\w+)\}/g, (place, noun) => {
    const id = place === 'comments/{comment_id}' ? comment : own[place];
    assert.ok(id, `Say here what stands for ${place} of ${path}.`);
    return `${noun}/${id}`;
  });
}

type Area = 'personnel' | 'projects' | 'events' | 'keys';

const areaOfTable: Partial<Record<TableName, Area>> = {
  people: 'personnel',
  groups: 'personnel',
  memberships: 'personnel',
  handovers: 'personnel',
  projects: 'projects',
  risks: 'projects',
  past_risks: 'projects',
  risk_models: 'projects',
  issues: 'projects',
  tasks: 'projects',
  comments: 'projects',
  reports: 'projects',
  categories: 'projects',
  settings: 'projects',
  keys: 'keys',
  access: 'keys',
  sessions: 'keys',
  webhooks: 'events',
  webhook_deliveries: 'events',
};

const areaOfScope = (scope: Scope) => scope.split('.')[0] as Area;

const areaOfId = (id: string): Area => {
  const prefix = id.slice(0, 3);
  if (['usr', 'grp'].includes(prefix)) return 'personnel';
  if (['key', 'acc'].includes(prefix)) return 'keys';
  return prefix === 'whk' ? 'events' : 'projects';
};

/** The area of a row: its table has one, or the row says which one it is about. */
function areaOf(table: TableName, row: Record<string, unknown>): Area {
  if (table === 'history') return areaOfId(String(row.subject_id));
  if (table === 'events') return areaOfScope(subjects[row.subject_type as SubjectType].scope);
  if (table === 'mappings') return areaOfScope(mappingScopes[row.list as MappedList].read);
  if (table === 'views') return areaOfScope(viewScopes[row.list as ViewedList].read);
  if (table === 'handover_items') return row.project_id === null ? 'personnel' : 'projects';
  const area = areaOfTable[table];
  assert.ok(area, `Say here to which area the table ${table} belongs.`);
  return area;
}

/** The tables that contain data, in an order in which rows can be inserted. */
const tableOrder = [
  'settings',
  'categories',
  'people',
  'access',
  'keys',
  'risk_models',
  'sessions',
  'groups',
  'memberships',
  'handovers',
  'handover_items',
  'projects',
  'risks',
  'past_risks',
  'issues',
  'tasks',
  'comments',
  'views',
  'mappings',
  'reports',
  'webhooks',
  'webhook_deliveries',
  'history',
  'events',
] as const satisfies TableName[];

type StoredRow = { table: TableName; key: Record<string, string>; row: Record<string, unknown> };

/** Compares the tables with their state now, and restores that. */
async function createTableReader({ database }: TestService) {
  assert.deepEqual(tableOrder.toSorted(), tableNames.toSorted(), 'Add the table to the order.');
  const described = new Map((await database.describeTables(database.db)).map((one) => [one.table, one]));
  /** All rows by table and primary key, without `last_used_at`, which is saved once a minute, whatever the request. */
  const readRows = async (): Promise<Map<string, StoredRow>> => {
    const tables = await Promise.all(
      tableOrder.map(async (table) => {
        const { columns = [], primaryKey = [] } = described.get(table) ?? {};
        const names = columns.map(({ name }) => name).filter((name) => name !== 'last_used_at');
        const rows: Record<string, unknown>[] = await database.db
          .selectFrom(table as 'people')
          .select(names as 'name'[])
          .execute();
        return rows.map((row): [string, StoredRow] => {
          const key = Object.fromEntries(primaryKey.map((name) => [name, row[name] as string]));
          return [`${table} ${Object.values(key)}`, { table, key, row }];
        });
      }),
    );
    return new Map(tables.flat());
  };
  /** The version of a table also increases if a transaction only locks its rows. */
  const readVersions = () => database.db.selectFrom('data_versions').selectAll().execute();

  const initial = await readRows();
  const initialTexts = new Map([...initial].map(([id, { row }]) => [id, JSON.stringify(row)]));
  let current = initial;
  let versions = await readVersions();
  const isDifferent = (id: string) => {
    const row = current.get(id)?.row;
    return (row && JSON.stringify(row)) !== initialTexts.get(id);
  };

  return {
    /** The areas in which rows were added, changed, removed or locked, with the names of the tables. */
    async changedAreas(): Promise<Map<Area, string>> {
      current = await readRows();
      const different = [...new Set([...initial.keys(), ...current.keys()])].filter(isDifferent);
      const changes = different.map((id) => {
        const { table, row } = (current.get(id) ?? initial.get(id)) as StoredRow;
        return { table: table as string, area: areaOf(table, row) };
      });
      const before = new Map(versions.map(({ table_name, version }) => [table_name, version]));
      versions = await readVersions();
      for (const { table_name: table, version } of versions) {
        const area = areaOfTable[table as TableName];
        if ((area === 'personnel' || area === 'projects') && before.get(table) !== version)
          changes.push({ table, area });
      }
      const areas = Map.groupBy(changes, ({ area }) => area);
      return new Map(
        [...areas].map(([area, rows]) => [area, [...new Set(rows.map(({ table }) => table))].join(', ')]),
      );
    },
    async restore(): Promise<void> {
      const byTable = ({ table: a }: StoredRow, { table: b }: StoredRow) =>
        tableOrder.indexOf(a) - tableOrder.indexOf(b);
      const former = [...initial].filter(([id]) => isDifferent(id));
      const added = [...current].filter(([id]) => !initial.has(id)).map(([, row]) => row);
      await database.write(async (db) => {
        for (const [id, { table, key, row }] of former.toSorted(([, a], [, b]) => byTable(a, b))) {
          const tasks = table as 'tasks';
          if (!current.has(id))
            await db
              .insertInto(tasks)
              .values(row as never)
              .execute();
          else
            await db
              .updateTable(tasks)
              .set(row)
              .where((eb) => eb.and(key))
              .execute();
        }
        for (const { table, key } of added.toSorted(byTable).toReversed())
          await db
            .deleteFrom(table as 'tasks')
            .where((eb) => eb.and(key))
            .execute();
      });
      versions = await readVersions();
    },
  };
}

/** The response without the cells of an imported file, which it may repeat whether they match anything or not. */
function withoutSent(received: string, body: unknown): string {
  const cells = typeof body === 'string' ? body.split(/[,\n]/).filter((cell) => cell.includes('mark')) : [];
  return cells.reduce((text, cell) => text.replaceAll(cell, ''), received);
}

/** What a response contains of areas that the key may not read. */
function foreignContent(text: string, granted: readonly Scope[]): string[] {
  // The path and quoted values of the request are no news, and the limit of a key is about the key.
  const news = text
    .replace(/"instance":"[^"]*"/g, '')
    .replace(/“[^”]*”/g, '')
    .replace(/"project_ids":\[[^\]]*\]/g, '')
    // An empty section of the work of a person.
    .replace(/"\w+":\{"total":0,"data":\[\]\}/g, '');
  // Access names the people who have it.
  const readsPeople = grants(granted, 'personnel.read') || grants(granted, 'keys.read');
  const readsProjects = grants(granted, 'projects.read');
  return [
    ...(readsProjects ? [] : [/projectmark/, /MARK/, /\b(?:prj|rsk|iss|tsk|cmt)_[0-9a-v]{26}/]),
    ...(readsProjects ? [] : [/"(?:tasks|issues|risks|projects)":/]),
    ...(readsPeople ? [] : [/personmark/, /"(?:email|phone|start_on)":"/]),
    // An item names its people and groups.
    ...(readsPeople || readsProjects ? [] : [/namemark/, /\b(?:usr|grp)_[0-9a-v]{26}/]),
  ].flatMap((pattern) => pattern.exec(news)?.[0] ?? []);
}
