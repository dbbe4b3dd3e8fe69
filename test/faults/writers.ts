import { setTimeout } from 'node:timers/promises';
import { type Client, importRows, type Response } from './client.ts';
import { collectionOf, type Entry, inputOf, type Ledger } from './ledger.ts';
import { startLoops } from './loops.ts';
import type { Tally } from './outcome.ts';
import type { Random } from './random.ts';

/** A finished write; `status` is undefined when the connection broke. */
export type Write = { startedAt: number; endedAt: number; status: number | undefined };

export type Writers = ReturnType<typeof startWriters>;

type WritersOptions = {
  count?: number;
  random: Random;
  /** Also send atomic imports. */
  hasImports?: boolean;
  /** Statuses other than success that this scenario expects. */
  allowed?: readonly number[];
};

/** The pause doubles with each consecutive rejection. The maximum is short enough to notice when the service recovers. */
const pauseMs = { min: 20, max: 320 };

/** Starts clients that create, change, join and delete in a loop, and record each acknowledgement. */
export function startWriters(
  client: Client,
  ledger: Ledger,
  tally: Tally,
  { count = 8, random, hasImports = false, allowed = [503] }: WritersOptions,
) {
  const writes: Write[] = [];
  let consecutiveRejections = 0;

  async function attempt(send: () => Promise<Response>): Promise<Response | undefined> {
    const startedAt = performance.now();
    const response = await send().catch(() => undefined);
    writes.push({ startedAt, endedAt: performance.now(), status: response?.status });
    if (response && response.status < 300) {
      tally.acknowledged++;
      consecutiveRejections = 0;
      return response;
    }
    if (response && response.status !== 500 && !allowed.includes(response.status)) {
      tally.fail(`A write returned ${response.status}: ${response.text.slice(0, 200)}`);
    }
    await setTimeout(Math.min(pauseMs.max, pauseMs.min * 2 ** Math.floor(consecutiveRejections++ / count)));
    return undefined;
  }

  async function create(kind: Entry['kind'], mine: Entry[]): Promise<void> {
    const token = `w${crypto.randomUUID().replaceAll('-', '')}`;
    const idempotencyKey = crypto.randomUUID();
    const pending = { title: `${token} 0`, version: 1, isDeleted: false, isMember: false };
    const entry: Entry = { kind, token, idempotencyKey, path: undefined, acknowledged: undefined, pending };
    ledger.entries.push(entry);
    ledger.touched.add(entry);
    const collection = collectionOf(ledger, kind);
    const headers = { 'idempotency-key': idempotencyKey };
    const response = await attempt(() => client.send('POST', collection, inputOf(entry), headers));
    if (!response) return;
    const resource = response.json();
    entry.path = `${collection}/${resource.user_id ?? resource.id}`;
    acknowledge(entry);
    mine.push(entry);
  }

  async function change(entry: Entry, mine: Entry[]): Promise<void> {
    const { acknowledged: state, path = '', token } = entry;
    if (!state) return;
    const choice = random.next();
    ledger.touched.add(entry);
    let response: Response | undefined;
    if (choice < 0.15 && !state.isMember) {
      entry.pending = { ...state, isDeleted: true };
      response = await attempt(() => client.send('DELETE', path));
      mine.splice(mine.indexOf(entry), 1);
    } else if (choice < 0.3 && entry.kind === 'person' && !state.isMember) {
      entry.pending = { ...state, version: state.version + 1, isMember: true };
      const user = path.split('/').at(-1);
      response = await attempt(() => client.send('PUT', `/v1/groups/${ledger.group}/members/${user}`));
    } else {
      const title = `${token} ${state.version}`;
      entry.pending = { ...state, version: state.version + 1, title };
      response = await attempt(() => client.send('PATCH', path, { title }));
    }
    if (response) acknowledge(entry);
    // The state of the resource is unknown until the next check, so the writer stops changing it.
    else if (mine.includes(entry)) mine.splice(mine.indexOf(entry), 1);
  }

  async function importPeople(): Promise<void> {
    await setTimeout(random.integer(0, 200));
    const imported = {
      token: `i${crypto.randomUUID().replaceAll('-', '')}`,
      rows: 300,
      isAcknowledged: false,
    };
    ledger.imports.push(imported);
    const rows = Array.from({ length: imported.rows }, (_, i) => ({ name: `${imported.token} ${i}` }));
    const send = () => importRows(client, '/v1/personnel/import?atomic=true', rows);
    imported.isAcknowledged = (await attempt(send)) !== undefined;
  }

  const createWriter = () => {
    const mine: Entry[] = [];
    return async () => {
      const entry = random.pick(mine);
      if (entry && random.next() < 0.5) await change(entry, mine);
      else await create(random.next() < 0.6 ? 'person' : 'task', mine);
    };
  };

  const loops = startLoops(
    ...Array.from({ length: count }, createWriter),
    ...(hasImports ? [importPeople] : []),
  );
  return {
    writes,
    /** Waits for the writes in flight and returns all writes. */
    async stop() {
      await loops.stop();
      return writes;
    },
  };
}

function acknowledge(entry: Entry): void {
  entry.acknowledged = entry.pending;
  entry.pending = undefined;
}
