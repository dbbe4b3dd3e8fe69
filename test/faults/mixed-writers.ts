import { type Client, expectJson, importRows, type Response } from './client.ts';
import type { Tally } from './outcome.ts';
import type { Random } from './random.ts';

const projectCount = 4;
const personCount = 10;
const itemsPerProject = 8;
const kinds = ['risks', 'issues', 'tasks'] as const;
type Kind = (typeof kinds)[number];

type Item = { kind: Kind; id: string; project: string };
type Write = { what: string; ms: number; status: number };

/** What the writers share: everything is changed by many of them at once. */
type Shared = {
  projects: string[];
  /** A project without items, whose key can change. */
  emptyProject: string;
  people: string[];
  groups: string[];
  key: string;
  items: Item[];
};

export type MixedWriters = Awaited<ReturnType<typeof createMixedWriters>>;

/** Statuses by which a write loses a race with another one. */
const lostRace = [404, 409, 412, 422, 503];

/** Creates what the writers change. `project` is the first of their projects. */
export async function createMixedWriters(client: Client, tally: Tally, project: string) {
  const shared = await createShared(client, project);
  const writes: Write[] = [];
  /** The texts that acknowledged writes set, by the path of what they changed. */
  const acknowledged = new Map<string, string[]>();
  /** The paths of items that were created and never deleted. */
  const created = new Set<string>();

  /** Sends a write. Returns the response if it succeeded. */
  async function attempt(what: string, send: () => Promise<Response>): Promise<Response | undefined> {
    const startedAt = performance.now();
    const response = await send().catch((error: Error) => {
      tally.fail(`${what} got no response: ${error.message}`);
      return undefined;
    });
    writes.push({ what, ms: performance.now() - startedAt, status: response?.status ?? 0 });
    if (!response) return undefined;
    if (response.status < 300) {
      tally.acknowledged++;
      return response;
    }
    if (!lostRace.includes(response.status))
      tally.fail(`${what} returned ${response.status}: ${response.text.slice(0, 200)}`);
    return undefined;
  }
  const acknowledge = (path: string, text: string) => {
    const texts = acknowledged.get(path) ?? [];
    acknowledged.set(path, texts);
    texts.push(text);
  };
  const operations = createOperations({ client, shared, attempt, acknowledge, created });

  return {
    writes,
    acknowledged,
    created,
    async run(random: Random, count: number, durationMs: number, log: (text: string) => void) {
      const until = performance.now() + durationMs;
      const names = Object.keys(operations);
      const write = async (random: Random) => {
        while (performance.now() < until) await operations[random.pick(names) ?? '']?.(random);
      };
      const progress = setInterval(() => log(`${writes.length} writes`), 60_000).unref();
      await Promise.all(Array.from({ length: count }, () => write(random.fork())));
      clearInterval(progress);
    },
    /** Makes all projects writable again. */
    async unarchive() {
      for (const project of shared.projects)
        await expectJson(client, 'POST', `/v1/projects/${project}/unarchive`);
    },
  };
}

async function createShared(client: Client, project: string): Promise<Shared> {
  const create = (path: string, body: object) => expectJson(client, 'POST', path, body);
  const shared: Shared = {
    projects: [project],
    emptyProject: (await create('/v1/projects', { name: 'Empty' })).id,
    people: [],
    groups: [],
    key: (await create('/v1/keys', { name: 'mixed', scopes: ['projects.read'] })).id,
    items: [],
  };
  for (let i = 1; i < projectCount; i++) {
    shared.projects.push((await create('/v1/projects', { name: `Mixed ${i}`, key: `MIXED${i}` })).key);
  }
  for (let i = 0; i < personCount; i++) {
    const body = { name: `Person ${i}`, external_id: `person-${i}` };
    shared.people.push((await create('/v1/personnel', body)).user_id);
  }
  for (let i = 0; i < 3; i++)
    shared.groups.push((await create('/v1/groups', { name: `Mixed group ${i}` })).id);
  for (const project of shared.projects) {
    for (const kind of kinds) {
      for (let i = 0; i < itemsPerProject; i++) {
        const body = { title: `${kind} ${i}`, external_id: `mixed-${kind}-${i}` };
        const { id } = await create(`/v1/projects/${project}/${kind}`, body);
        shared.items.push({ kind, id, project });
      }
    }
  }
  return shared;
}

type Tools = {
  client: Client;
  shared: Shared;
  attempt(what: string, send: () => Promise<Response>): Promise<Response | undefined>;
  acknowledge(path: string, text: string): void;
  created: Set<string>;
};

type Operation = (random: Random) => Promise<unknown>;

/** The ways to write. Each is chosen equally often. */
function createOperations(tools: Tools): Record<string, Operation> {
  const { client, shared, attempt, acknowledge, created } = tools;
  const { projects, people, groups, items } = shared;
  const pick = <T>(random: Random, list: readonly T[]) => random.pick(list) as T;
  const pathOf = ({ project, kind, id }: Item) => `/v1/projects/${project}/${kind}/${id}`;
  const token = () => `w${crypto.randomUUID().replaceAll('-', '')}`;
  const post = (what: string, path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    attempt(what, () => client.send('POST', path, body, headers));
  const patch = (what: string, path: string, body: object) =>
    attempt(what, () => client.send('PATCH', path, body));
  /** Makes a person responsible for an item of this kind. */
  const assigned = (kind: Kind, user_id: string) =>
    kind === 'tasks' ? { assignee_user_id: user_id } : { owner_user_id: user_id };
  const sample = <T>(random: Random, list: readonly T[], count: number) =>
    [...new Set(Array.from({ length: count }, () => pick(random, list)))] as T[];
  const upsert = (what: string, path: string, rows: readonly object[], more = '') =>
    attempt(`import of ${what}`, () => importRows(client, `${path}?mode=upsert${more}`, rows));

  async function changeItem(random: Random) {
    const item = pick(random, items);
    const title = token();
    const body = { title, ...(random.next() < 0.7 && assigned(item.kind, pick(random, people))) };
    if (await patch('item change', pathOf(item), body)) acknowledge(pathOf(item), title);
  }

  /** Changes items of several projects at once, in random order. */
  async function changeInBulk(random: Random) {
    const kind = pick(random, kinds);
    const chosen = sample(
      random,
      items.filter((item) => item.kind === kind),
      random.integer(2, 16),
    );
    const titles = chosen.map(() => token());
    const body = {
      items: chosen.map(({ id }, i) => ({ id, changes: { title: titles[i] } })),
      ...(random.next() < 0.7 && { changes: assigned(kind, pick(random, people)) }),
    };
    if (!(await post('bulk change', `/v1/bulk/${kind}`, body))) return;
    for (const [i, item] of chosen.entries()) acknowledge(pathOf(item), titles[i] as string);
  }

  async function handOver(random: Random) {
    const [leaver, successor] = [pick(random, people), pick(random, people)];
    await post('hand-over', `/v1/personnel/${leaver}/deactivate`, { handover_to_user_id: successor });
    await post('reactivation', `/v1/personnel/${leaver}/reactivate`);
  }

  async function changePerson(random: Random) {
    const path = `/v1/personnel/${pick(random, people)}`;
    const title = token();
    const body = { title, ...(random.next() < 0.3 && { manager_user_id: pick(random, people) }) };
    if (await patch('person change', path, body)) acknowledge(path, title);
  }

  async function createAndDelete(random: Random) {
    const kind = pick(random, kinds);
    const project = pick(random, projects);
    const links = linksOf(random, kind, project);
    const body = { title: 'x', ...assigned(kind, pick(random, people)), ...links };
    const response = await post('item creation', `/v1/projects/${project}/${kind}`, body, {
      'idempotency-key': crypto.randomUUID(),
    });
    if (!response) return;
    const path = `/v1/projects/${project}/${kind}/${response.json().id}`;
    created.add(path);
    if (random.next() < 0.8) {
      created.delete(path);
      await attempt('item deletion', () => client.send('DELETE', path));
    }
  }

  /** Links a task or an issue to a risk or an issue of the same project. */
  function linksOf(random: Random, kind: Kind, project: string): object {
    if (kind === 'risks') return {};
    const pickId = (wanted: Kind) => {
      const candidates = items.filter((item) => item.kind === wanted && item.project === project);
      return pick(random, candidates).id;
    };
    return kind === 'issues'
      ? { risk_id: pickId('risks') }
      : { [random.next() < 0.5 ? 'risk_id' : 'issue_id']: pickId(random.next() < 0.5 ? 'risks' : 'issues') };
  }

  async function materialize(random: Random) {
    const project = pick(random, projects);
    const risk = await post('item creation', `/v1/projects/${project}/risks`, {
      title: 'x',
      owner_user_id: pick(random, people),
    });
    if (!risk) return;
    await post('materialization', `/v1/projects/${project}/risks/${risk.json().id}/materialize`);
  }

  async function joinAndLeave(random: Random) {
    const members = `/v1/groups/${pick(random, groups)}/members`;
    if (random.next() < 0.5) {
      await post('membership', members, { user_ids: sample(random, people, random.integer(1, 6)) });
    } else {
      const method = random.next() < 0.3 ? 'PUT' : 'DELETE';
      await attempt('membership', () => client.send(method, `${members}/${pick(random, people)}`));
    }
  }

  /** Changes the description and the lead of a group or a project. */
  const changeLed = (what: string, collection: string, ids: string[]) => async (random: Random) => {
    const path = `${collection}/${pick(random, ids)}`;
    const description = token();
    const body = { description, lead_user_id: pick(random, people) };
    if (await patch(what, path, body)) acknowledge(path, description);
  };

  async function archiveAndUnarchive(random: Random) {
    // Otherwise most writes of the others would be rejected.
    if (random.next() < 0.8) return changeItem(random);
    const path = `/v1/projects/${pick(random, projects)}`;
    await post('archiving', `${path}/archive`);
    await post('unarchiving', `${path}/unarchive`);
  }

  const changeKey = (random: Random) =>
    random.next() < 0.5
      ? patch('key change', `/v1/projects/${shared.emptyProject}`, { key: `E${random.integer(10, 99_999)}` })
      : patch('key change', `/v1/keys/${shared.key}`, { name: token() });

  async function comment(random: Random) {
    const item = pick(random, items);
    const path = `${pathOf(item)}/comments`;
    const response = await post('comment', path, { body: `@${pick(random, people)}` });
    if (response) created.add(`${path}/${response.json().id}`);
  }

  /** Imports existing and new rows, in random order, into several projects. */
  async function importItems(random: Random) {
    const kind = pick(random, kinds);
    const rows = Array.from({ length: random.integer(2, 20) }, () => ({
      project: pick(random, projects),
      external_id: `mixed-${kind}-${random.integer(0, itemsPerProject * 2)}`,
      title: token(),
      ...assigned(kind, pick(random, people)),
    }));
    await upsert('items', `/v1/imports/${kind}`, rows, `&atomic=${random.next() < 0.3}`);
  }

  async function importPeople(random: Random) {
    const rows = sample(
      random,
      Array.from({ length: personCount * 2 }, (_, i) => i),
      6,
    ).map((i) => ({
      external_id: `person-${i}`,
      name: `Person ${i}`,
      location: token(),
      ...(random.next() < 0.3 && { manager_user_id: pick(random, people) }),
    }));
    await upsert('people', '/v1/personnel/import', rows);
  }

  async function importGroups(random: Random) {
    const rows = sample(random, groups, 3).map((id) => ({
      id,
      description: token(),
      lead_user_id: pick(random, people),
      member_user_ids: sample(random, people, 2),
    }));
    await upsert('groups', '/v1/groups/import', rows);
  }

  async function importProjects(random: Random) {
    const rows = sample(random, projects, 4).map((key) => ({
      key,
      name: `Mixed ${key}`,
      description: token(),
      lead_user_id: pick(random, people),
    }));
    await upsert('projects', '/v1/projects/import', rows);
  }

  return {
    changeItem,
    changeInBulk,
    handOver,
    changePerson,
    createAndDelete,
    materialize,
    joinAndLeave,
    changeGroup: changeLed('group change', '/v1/groups', groups),
    changeProject: changeLed('project change', '/v1/projects', projects),
    archiveAndUnarchive,
    changeKey,
    comment,
    importItems,
    importPeople,
    importGroups,
    importProjects,
  };
}

/** Checks that each acknowledged text is in the history of what it changed, and that what was created exists. */
export async function verifyMixed(
  client: Client,
  tally: Tally,
  { acknowledged, created }: MixedWriters,
): Promise<void> {
  for (const [path, texts] of acknowledged) {
    const { data } = await expectJson(client, 'GET', `${path}/history`);
    const stored = new Set(data.map(({ to }: { to: unknown }) => to));
    const lost = texts.filter((text) => !stored.has(text)).length;
    if (lost === 0) continue;
    tally.lost += lost;
    tally.fail(`${path} lacks ${lost} of ${texts.length} acknowledged changes.`);
  }
  for (const path of created) {
    const { status } = await client.send('GET', path);
    if (status === 200) continue;
    tally.lost++;
    tally.fail(`${path} was created, but returned ${status}.`);
  }
}
