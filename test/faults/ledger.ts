import { type Client, expectJson } from './client.ts';
import type { Tally } from './outcome.ts';

/** What one resource is known to be. */
type State = { title: string; version: number; isDeleted: boolean; isMember: boolean };

/** A resource that a writer creates and changes, with what was acknowledged of it. */
export type Entry = {
  kind: 'person' | 'task';
  /** In the title of this resource alone, so that copies of it can be found. */
  token: string;
  idempotencyKey: string;
  /** Unknown until its creation is acknowledged. */
  path: string | undefined;
  acknowledged: State | undefined;
  /** The state after a write whose response never came, or was a refusal: it may be there or not, but not half. */
  pending: State | undefined;
};

/** An import of all its rows or none. */
type ImportEntry = { token: string; rows: number; isAcknowledged: boolean };

/** Every write that a scenario sends, so that what the database holds afterwards can be compared with it. */
export type Ledger = {
  project: string;
  group: string;
  entries: Entry[];
  imports: ImportEntry[];
  touched: Set<Entry>;
};

export const collectionOf = (ledger: Ledger, kind: Entry['kind']) =>
  kind === 'person' ? '/v1/personnel' : `/v1/projects/${ledger.project}/tasks`;

export const inputOf = ({ kind, token }: Entry) =>
  kind === 'person' ? { name: token, title: `${token} 0` } : { title: `${token} 0`, description: token };

/** An empty ledger, with a project and a group for its resources. */
export async function createLedger(client: Client): Promise<Ledger> {
  const project = await expectJson(client, 'POST', '/v1/projects', { name: 'Errors', key: 'FAULTS' });
  const group = await expectJson(client, 'POST', '/v1/groups', { name: 'Errors' });
  return { project: project.key, group: group.id, entries: [], imports: [], touched: new Set() };
}

/** Compares everything written since the last check, one resource after another, with its history. */
export async function verifyTouched(client: Client, ledger: Ledger, tally: Tally): Promise<void> {
  const queue = [...ledger.touched].values();
  ledger.touched.clear();
  const work = async () => {
    for (const entry of queue) await verifyEntry(client, ledger, tally, entry);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  for (const imported of ledger.imports.splice(0)) await verifyImport(client, tally, imported);
}

async function verifyEntry(client: Client, ledger: Ledger, tally: Tally, entry: Entry): Promise<void> {
  if (entry.path === undefined) await retryCreation(client, ledger, tally, entry);
  if (entry.path === undefined) return;
  const response = await client.send('GET', entry.path);
  if (response.status !== 200 && response.status !== 404) {
    return tally.fail(
      `A read after recovery was answered with ${response.status}: ${response.text.slice(0, 200)}`,
    );
  }
  const found = response.status === 404 ? undefined : response.json();
  if (!inConstantArray(found, entry)) {
    tally.lost++;
    tally.fail(`${entry.path} is ${describeFound(found)}, but ${describe(entry)} was acknowledged.`);
  }
  if (found) await verifyHistory(client, tally, entry, found);
  entry.acknowledged = found
    ? stateOf(found)
    : entry.acknowledged && { ...entry.acknowledged, isDeleted: true };
  entry.pending = undefined;
}

/** Sends a creation again under its Idempotency-Key: whether it was done before or not, there must be one resource. */
async function retryCreation(client: Client, ledger: Ledger, tally: Tally, entry: Entry): Promise<void> {
  const collection = collectionOf(ledger, entry.kind);
  const headers = { 'idempotency-key': entry.idempotencyKey };
  const created = await client.send('POST', collection, inputOf(entry), headers);
  if (created.status !== 201) {
    return tally.fail(
      `A creation sent again was answered with ${created.status}: ${created.text.slice(0, 200)}`,
    );
  }
  const resource = created.json();
  entry.path = `${collection}/${resource.user_id ?? resource.id}`;
  entry.acknowledged = stateOf(resource);
  tally.acknowledged++;
  const { data } = await expectJson(client, 'GET', `${collection}?q=${entry.token}&limit=10`);
  if (data.length !== 1)
    tally.fail(`A creation sent twice under one Idempotency-Key left ${data.length} resources.`);
}

// biome-ignore lint/suspicious/noExplicitAny: a resource as the service sent it
type Found = any;

const stateOf = (found: Found): State => ({
  title: found.title,
  version: found.version,
  isDeleted: false,
  isMember: (found.groups ?? []).length > 0,
});

function inConstantArray(found: Found, { acknowledged, pending }: Entry): boolean {
  const isSame = (state: State | undefined) => {
    if (state === undefined) return false;
    if (state.isDeleted || found === undefined) return state.isDeleted && found === undefined;
    const seen = stateOf(found);
    return seen.title === state.title && seen.version === state.version && seen.isMember === state.isMember;
  };
  return isSame(acknowledged) || isSame(pending);
}

const describe = ({ acknowledged: state }: Entry) =>
  state?.isDeleted ? 'its deletion' : `version ${state?.version} “${state?.title}”`;

const describeFound = (found: Found) => (found ? `version ${found.version} “${found.title}”` : 'not there');

/** A change and its history are written together, so one must follow from the other. */
async function verifyHistory(client: Client, tally: Tally, entry: Entry, found: Found): Promise<void> {
  const response = await client.send('GET', `${entry.path}/history`);
  if (response.status !== 200) return tally.fail(`A history was answered with ${response.status}.`);
  const { data } = response.json();
  const of = (field: string) => data.filter((change: { field: string }) => change.field === field);
  const [created, titles, groups] = [of('created'), of('title'), of('group')];
  const isWhole =
    created.length === 1 &&
    found.version === 1 + titles.length + groups.length &&
    (titles.length === 0 || titles.at(-1).to === found.title) &&
    stateOf(found).isMember === groups.length > 0;
  if (!isWhole) {
    tally.lost++;
    tally.fail(`${entry.path} has version ${found.version}, which does not follow from its history.`);
  }
}

async function verifyImport(client: Client, tally: Tally, { token, rows, isAcknowledged }: ImportEntry) {
  const { page } = await expectJson(client, 'GET', `/v1/personnel?q=${token}&limit=1&count=true`);
  if (page.total === rows || (page.total === 0 && !isAcknowledged)) return;
  tally.lost += isAcknowledged ? 1 : 0;
  tally.fail(`An atomic import of ${rows} rows left ${page.total} of them.`);
}

/** Compares all that was ever acknowledged with the whole lists; for resources that `verifyTouched` has settled. */
export async function verifyAll(client: Client, ledger: Ledger, tally: Tally): Promise<void> {
  for (const kind of ['person', 'task'] as const) {
    const collection = collectionOf(ledger, kind);
    const { data } = await expectJson(client, 'GET', collection);
    const found = new Map<string, Found>(
      data.map((row: Found) => [`${collection}/${row.user_id ?? row.id}`, row]),
    );
    for (const entry of ledger.entries) {
      if (entry.kind !== kind || entry.path === undefined || ledger.touched.has(entry)) continue;
      if (inConstantArray(found.get(entry.path), entry)) continue;
      tally.lost++;
      tally.fail(`${entry.path} is not in the list as acknowledged: ${describe(entry)}.`);
    }
  }
}
