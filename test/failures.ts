import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Database } from '../src/database/open.ts';
import { allTables } from '../src/store/tables.ts';
import { settableClock } from './clock.ts';
import type { Failure } from './failing-database.ts';
import { type Start, type TestService, withKey } from './service.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the body
type Any = any;

export type Scenario = {
  /** The options of the service, and a clock. */
  options?: Parameters<Start>[1];
  /** Runs without failures. */
  prepare?(service: TestService, key: string): Promise<Any>;
  /** What it returns must be the same as well, unless it had to repeat a request. */
  act(
    service: TestService,
    key: string,
    prepared: Any,
    clock: ReturnType<typeof settableClock>,
  ): Promise<unknown>;
  /** The number of the transaction, of each request, whose outcome is unknown; 0 if a repeated request changes more. */
  unknown?: number;
};

/**
 * Asserts that a scenario leaves the same database, whether all its transactions fail once, or the outcome of one of each
 * request is unknown and the request is repeated.
 */
export async function assertFailuresChangeNothing(
  t: TestContext,
  start: Start,
  { options, prepare, act, unknown = 1 }: Scenario,
  failures: readonly Failure[] = ['conflict', 'unknown, saved'],
): Promise<void> {
  const lines: string[][] = [];
  for (const failure of [undefined, ...failures]) {
    if (unknown === 0 && failure?.startsWith('unknown')) continue;
    const clock = settableClock('2026-11-15T12:00:00Z');
    const { service, key } = await withKey(start(t, { ...options, clock }));
    const { faults, database } = service;
    const isUnknown = failure?.startsWith('unknown') ?? false;
    const prepared = await prepare?.(service, key);
    Object.assign(faults, { failure });
    const returned = await act(repeating(service, isUnknown ? unknown : undefined), key, prepared, clock);
    Object.assign(faults, { failure: undefined });
    assert.equal(faults.failures > 0, failure !== undefined, 'No transaction failed.');
    lines.push(await comparable(database, returned));
    const [rows = [], expected = []] = [lines.at(-1), lines[0]].map((all) => all?.slice(isUnknown ? 1 : 0));
    const [more, fewer] = [without(rows, expected), without(expected, rows)];
    const shown = more.slice(0, 5).map((text, i) => around(text, fewer[i] ?? ''));
    const missing = fewer.slice(0, 5).map((text, i) => around(text, more[i] ?? ''));
    assert.deepEqual([shown, missing], [[], []], `With each ${failure}.`);
  }
}

/** Runs a job, and as the next round would, runs it again if the outcome of its first transaction is unknown. */
export async function repeated({ faults }: TestService, job: () => Promise<unknown>): Promise<void> {
  const isUnknown = faults.failure?.startsWith('unknown');
  if (isUnknown) Object.assign(faults, { transactions: 0, isFailing: (number: number) => number === 1 });
  await job().catch((error) => {
    if (!isUnknown) throw error;
    return job();
  });
}

/** A service whose requests are repeated as the error advises if the outcome of this transaction of theirs is unknown. */
function repeating(service: TestService, transaction: number | undefined): TestService {
  const { faults } = service;
  let requests = 0;
  const call: TestService['call'] = async (method, path, key, body, headers = {}) => {
    const isOnce = method === 'POST' && !/import/.test(path);
    const all = { ...headers, ...(isOnce && { 'idempotency-key': `request-${++requests}` }) };
    if (transaction === undefined) return service.call(method, path, key, body, all);
    Object.assign(faults, { transactions: 0, isFailing: (number: number) => number === transaction });
    const response = await service.call(method, path, key, body, all);
    if (!response.body?.may_be_saved) return response;
    Object.assign(faults, { isFailing: () => false });
    return service.call(method, path, key, body, all);
  };
  return {
    ...service,
    call,
    post: (path, key, body, headers) => call('POST', path, key, body, headers),
    patch: (path, key, body, headers) => call('PATCH', path, key, body, headers),
    delete: (path, key, headers) => call('DELETE', path, key, undefined, headers),
    upload: (path, key, file, type = 'text/csv') => call('POST', path, key, file, { 'content-type': type }),
    async make(path, key, body) {
      const response = await call('POST', path, key, body);
      assert.equal(response.status, 201, response.text);
      return response.body;
    },
  };
}

/** An event without what it says of others and of later changes, which depends on the number of rows that its transaction took. */
function ofItself(event: Any) {
  const data = JSON.parse(event.data);
  for (const member of ['counts', 'groups', 'health', 'version', 'updated_at']) delete data[member];
  return { ...event, data: JSON.stringify(data) };
}

/** The part of a long text where it begins to differ from another one. */
function around(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return `${text.slice(0, 60)} … ${text.slice(Math.max(60, at - 100), at + 300)}`;
}

/** The texts of one list that the other one does not have as often. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = Map.groupBy(others, (text) => text);
  return texts.filter((text) => left.get(text)?.pop() === undefined);
}

/** What differs in each run, and tables of the test itself. */
const leftOut = new Set(['data_versions', 'keys']);
const differing = new Set([
  'latency_ms',
  'last_attempt_at',
  'sequence',
  'last_sequence',
  'request_hash',
  'secret',
  'secret_hash',
  'hash',
]);

/** The rows of all tables and what was returned, as texts, with names and keys instead of ids. */
async function comparable({ db }: Database, returned: unknown): Promise<string[]> {
  const labels = new Map<string, string>();
  const rows: [string, Any][] = [['returned', returned]];
  for (const table of allTables.filter((table) => !leftOut.has(table))) {
    for (const row of (await db.selectFrom(table).selectAll().execute()) as Any[]) {
      if (row.subject_type !== 'key') rows.push([table, table === 'events' ? ofItself(row) : row]);
      const { id, user_id, key, external_id, name, title } = row;
      if (!['events', 'history', 'past_risks'].includes(table))
        labels.set(table === 'people' ? user_id : id, String(key ?? external_id ?? name ?? title ?? ''));
    }
  }
  return rows.map(([table, row]) =>
    `${table}: ${JSON.stringify(row, (name, value) => (differing.has(name) ? '…' : value))}`
      .replace(/([a-z]{3})_[0-9a-v]{26}/g, (id, prefix) => `${prefix} ${labels.get(id) ?? ''}`)
      .replace(/localhost:\d+/g, 'localhost')
      // The compressed results of an import.
      .replace(/\\"packed\\":\[.*?\]/g, '')
      // A JSON text in a column.
      .replace(/(\\+"sequence\\+":)\d+/g, '$1…')
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, '…'),
  );
}
