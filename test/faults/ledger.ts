import { type Client, expectJson, patient } from './client.ts';
import type { Tally } from './outcome.ts';

/** The state of one resource. */
type State = { title: string; version: number; isDeleted: boolean; isMember: boolean };

/** A resource that a writer creates and changes, with its last acknowledged state. */
export type Entry = {
  kind: 'person' | 'task';
  /** A unique part of the title, so that a search finds duplicates. */
  token: string;
  idempotencyKey: string;
  /** Unknown until its creation is acknowledged. */
  path: string | undefined;
  acknowledged: State | undefined;
  /** The state after a write without a successful response: it is stored completely or not at all. */
  pending: State | undefined;
};

/** An atomic import. */
type ImportEntry = { token: string; rows: number; isAcknowledged: boolean };

/** Every write that a scenario sends, for comparison with the database afterwards. */
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

/** Checks every resource written since the last check, and its history. */
export async function verifyTouched(sender: Client, ledger: Ledger, tally: Tally): Promise<void> {
  const client = patient(sender);
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
    return tally.fail(`A read after recovery returned ${response.status}: ${response.text.slice(0, 200)}`);
  }
  const found = response.status === 404 ? undefined : response.json();
  if (!matchesEntry(found, entry)) {
    tally.lost++;
    tally.fail(`${entry.path} is ${describeFound(found)}, but ${describe(entry)} was acknowledged.`);
  }
  if (found) await verifyHistory(client, tally, entry, found);
  entry.acknowledged = found
    ? stateOf(found)
    : entry.acknowledged && { ...entry.acknowledged, isDeleted: true };
  entry.pending = undefined;
}

/** Retries a creation with its Idempotency-Key. Exactly one resource must exist, whether the first attempt succeeded or not. */
async function retryCreation(client: Client, ledger: Ledger, tally: Tally, entry: Entry): Promise<void> {
  const collection = collectionOf(ledger, entry.kind);
  const headers = { 'idempotency-key': entry.idempotencyKey };
  const created = await client.send('POST', collection, inputOf(entry), headers);
  if (created.status !== 201) {
    return tally.fail(`A retried creation returned ${created.status}: ${created.text.slice(0, 200)}`);
  }
  const resource = created.json();
  entry.path = `${collection}/${resource.user_id ?? resource.id}`;
  entry.acknowledged = stateOf(resource);
  tally.acknowledged++;
  const { data } = await expectJson(client, 'GET', `${collection}?q=${entry.token}&limit=10`);
  if (data.length !== 1) tally.fail(`Two creations with one Idempotency-Key left ${data.length} resources.`);
}

// biome-ignore lint/suspicious/noExplicitAny: a resource as the service sent it
type Found = any;

const stateOf = (found: Found): State => ({
  title: found.title,
  version: found.version,
  isDeleted: false,
  isMember: (found.groups ?? []).length > 0,
});

function matchesEntry(found: Found, { acknowledged, pending }: Entry): boolean {
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

const describeFound = (found: Found) => (found ? `version ${found.version} “${found.title}”` : 'missing');

/** A change and its history are written in one transaction, so they must agree. */
async function verifyHistory(client: Client, tally: Tally, entry: Entry, found: Found): Promise<void> {
  const response = await client.send('GET', `${entry.path}/history`);
  if (response.status !== 200) return tally.fail(`GET history returned ${response.status}.`);
  const { data } = response.json();
  const of = (field: string) => data.filter((change: { field: string }) => change.field === field);
  const [created, titles, groups] = [of('created'), of('title'), of('group')];
  const isConsistent =
    created.length === 1 &&
    found.version === 1 + titles.length + groups.length &&
    (titles.length === 0 || titles.at(-1).to === found.title) &&
    stateOf(found).isMember === groups.length > 0;
  if (!isConsistent) {
    tally.lost++;
    tally.fail(`${entry.path} has version ${found.version}, which does not match its history.`);
  }
}

async function verifyImport(client: Client, tally: Tally, { token, rows, isAcknowledged }: ImportEntry) {
  const { page } = await expectJson(client, 'GET', `/v1/personnel?q=${token}&limit=1&count=true`);
  if (page.total === rows || (page.total === 0 && !isAcknowledged)) return;
  tally.lost += isAcknowledged ? 1 : 0;
  tally.fail(`An atomic import of ${rows} rows left ${page.total} of them.`);
}

/** Compares all acknowledged states with the complete lists. Skips resources that `verifyTouched` has not checked yet. */
export async function verifyAll(client: Client, ledger: Ledger, tally: Tally): Promise<void> {
  for (const kind of ['person', 'task'] as const) {
    const collection = collectionOf(ledger, kind);
    const { data } = await expectJson(client, 'GET', collection);
    const found = new Map<string, Found>(
      data.map((row: Found) => [`${collection}/${row.user_id ?? row.id}`, row]),
    );
    for (const entry of ledger.entries) {
      if (entry.kind !== kind || entry.path === undefined || ledger.touched.has(entry)) continue;
      if (matchesEntry(found.get(entry.path), entry)) continue;
      tally.lost++;
      tally.fail(`${entry.path} is not in the list as acknowledged: ${describe(entry)}.`);
    }
  }
}
