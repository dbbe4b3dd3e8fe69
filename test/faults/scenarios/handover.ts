import { setTimeout } from 'node:timers/promises';
import { type Client, expectJson, importRows } from '../client.ts';
import type { Options, Tally } from '../outcome.ts';
import type { Random } from '../random.ts';
import { type Engine, emptyDatabase, startWithClient } from '../service.ts';

/** Projects in which the person has no work yet, so that assignments do not wait for a project lock. */
const otherProjects = ['ARES', 'GEMINI', 'MERCURY', 'ORION', 'VEGA', 'VOYAGER'];

type Assigned = { kind: string; path: string; acknowledgedAt: number };

/** Assigns work to a person; returns its path, or undefined when the service rejected it. */
type Assign = (person: string) => Promise<string | undefined>;

/** Deactivates a person with a hand-over while other clients assign work to that person. */
export async function raceHandovers(options: Options, engine: Engine): Promise<void> {
  const { random, tally } = options;
  const { client } = await startWithClient(options, await emptyDatabase(options, engine), {
    connections: 24,
  });
  for (const key of ['APOLLO', ...otherProjects])
    await expectJson(client, 'POST', '/v1/projects', { name: key, key });
  const kinds = createKinds(client, tally, random.fork());
  const rejecting = await findRejectingKinds(client, kinds);
  const accepting = Object.keys(kinds).filter((kind) => !rejecting.includes(kind));
  tally.note(
    `inactive people accept ${accepting.join(', ')}: only assignments before the hand-over are checked`,
  );

  for (let round = options.rounds(40, 2); round > 0; round--) {
    const [leaver, successor] = [await createPerson(client), await createPerson(client)];
    await assignTasks(client, leaver, options.isQuickRun ? 100 : 300);
    const assigned: Assigned[] = [];
    let isOver = false;
    const assign = async (kind: string) => {
      while (!isOver) {
        const path = await kinds[kind]?.(leaver);
        if (path !== undefined) {
          tally.acknowledged++;
          assigned.push({ kind, path, acknowledgedAt: performance.now() });
        }
      }
    };
    const assigners = [...Array.from({ length: 4 }, () => rejecting), accepting].flat().map(assign);
    await setTimeout(random.integer(5, 150));
    const sentAt = performance.now();
    const handover = { handover_to_user_id: successor };
    const { status, text } = await client.send('POST', `/v1/personnel/${leaver}/deactivate`, handover);
    if (status !== 200) tally.fail(`The hand-over returned ${status}: ${text.slice(0, 200)}`);
    await setTimeout(20);
    isOver = true;
    await Promise.all(assigners);
    const mustHaveMoved = (all: Assigned[]) =>
      all.filter(({ kind, acknowledgedAt }) => rejecting.includes(kind) || acknowledgedAt < sentAt);
    await checkMoved(client, tally, leaver, successor, mustHaveMoved(assigned));
    tally.rounds++;
  }
}

const createPerson = async (client: Client, more: object = {}): Promise<string> =>
  (await expectJson(client, 'POST', '/v1/personnel', { name: crypto.randomUUID(), ...more })).user_id;

/** Assigns enough tasks to slow down the hand-over, so that other clients can assign more meanwhile. */
async function assignTasks(client: Client, assignee_user_id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({ title: 'x', assignee_user_id }));
  const { status, text } = await importRows(client, '/v1/projects/APOLLO/tasks/import', rows);
  if (status !== 200) throw new Error(`An import returned ${status}: ${text.slice(0, 200)}`);
}

function createKinds(client: Client, tally: Tally, random: Random): Record<string, Assign> {
  const attempt = async (method: string, path: string, body?: object) => {
    const response = await client.send(method, path, body);
    if (response.status < 300) return response.text === '' ? {} : response.json();
    if (![409, 422].includes(response.status)) {
      tally.fail(`${method} ${path} returned ${response.status}: ${response.text.slice(0, 200)}`);
    }
    return undefined;
  };
  const create = (what: string, input: (person: string) => object) => async (person: string) => {
    const project = `/v1/projects/${random.pick(otherProjects)}`;
    const created = await attempt('POST', `${project}/${what}`, { title: 'x', ...input(person) });
    return created && `${project}/${what}/${created.id}`;
  };
  const patch = (what: string, input: (person: string) => object) => async (person: string) => {
    const project = `/v1/projects/${random.pick(otherProjects)}`;
    const { id } = await expectJson(client, 'POST', `${project}/${what}`, { title: 'x' });
    const path = `${project}/${what}/${id}`;
    return (await attempt('PATCH', path, input(person))) && path;
  };
  return {
    tasks: create('tasks', (assignee_user_id) => ({ assignee_user_id })),
    'tasks changed': patch('tasks', (assignee_user_id) => ({ assignee_user_id })),
    'issues owned': create('issues', (owner_user_id) => ({ owner_user_id })),
    'issues assigned': create('issues', (assignee_user_id) => ({ assignee_user_id })),
    'issues changed': patch('issues', (assignee_user_id) => ({ assignee_user_id })),
    risks: create('risks', (owner_user_id) => ({ owner_user_id })),
    'risks changed': patch('risks', (owner_user_id) => ({ owner_user_id })),
    async memberships(person) {
      const { id } = await expectJson(client, 'POST', '/v1/groups', { name: crypto.randomUUID() });
      return (await attempt('PUT', `/v1/groups/${id}/members/${person}`)) && `/v1/groups/${id}/members`;
    },
    async reports(person) {
      const report = await createPerson(client);
      const path = `/v1/personnel/${report}`;
      return (await attempt('PATCH', path, { manager_user_id: person })) && path;
    },
  };
}

/** The kinds of work that inactive people cannot get. None of it may stay with a person after the race. */
async function findRejectingKinds(client: Client, kinds: Record<string, Assign>): Promise<string[]> {
  const inactive = await createPerson(client, { status: 'inactive' });
  const rejecting: string[] = [];
  for (const [kind, assign] of Object.entries(kinds)) {
    if ((await assign(inactive)) === undefined) rejecting.push(kind);
  }
  return rejecting;
}

async function checkMoved(
  client: Client,
  tally: Tally,
  leaver: string,
  successor: string,
  assigned: Assigned[],
): Promise<void> {
  for (const { kind, path } of assigned) {
    const { status, text } = await client.send('GET', path);
    if (status === 200 && text.includes(successor) && !text.includes(leaver)) continue;
    tally.lost++;
    tally.fail(`${kind}: an acknowledged assignment stayed with a deactivated person.`);
  }
}
