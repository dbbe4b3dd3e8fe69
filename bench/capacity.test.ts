import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { capacityTable, completeDemand, computeCapacity, type Engine, readUnitCosts } from './capacity.ts';

const cost = (service: number, database = 0) => ({ service, database });
const engine: Engine = {
  bytes_per_row: { people: 1000, projects: 1000, risks: 2000, issues: 1000, tasks: 500 },
  bytes_per_change: { history: 300, events: 1000, past_risks: 700 },
  cpu_ms: {
    cached_page: cost(0.1),
    not_modified: cost(0.1),
    page: cost(1, 2),
    one_resource: cost(1),
    search: cost(50, 2),
    change: cost(2, 3),
    creation: cost(2),
    list_per_1000_rows: cost(10, 5),
    summary_per_1000_risks: cost(1, 3),
  },
  memory_mb: 200,
};

test('capacity is the demand times the unit costs', () => {
  const demand = completeDemand({ people: 9000, risks: 1000, changes: 1, years: 2, retention: 365 });
  assert.deepEqual([demand.projects, demand.issues, demand.tasks], [450, 500, 500]);
  const result = computeCapacity(engine, demand);
  assert.equal(result.rows_gb, (9000 * 1000 + 450 * 1000 + 1000 * 2000 + 500 * 1000 + 500 * 500) / 1e9);
  // Each item is created and changed twice; each person is created.
  assert.equal(result.history_gb, ((2000 * 3 + 9000) * 300 + 1000 * 2 * 700) / 1e9);
  assert.equal(result.events_gb, (2000 * 1000) / 1e9);
  // 20 requests of each person on a day, a fifth of them in one hour.
  assert.equal(result.requests_per_second, 10);
  const expected = (10 * (0.05 * 2 + 0.475 * 0.1 + 0.475 * 1)) / 1000;
  assert.ok(Math.abs(result.service_cpus - expected) < 1e-9);
  assert.equal(result.instances, 1);
  assert.deepEqual([result.roster_seconds, result.summary_seconds], [0.135, 0.004]);
  assert.equal(computeCapacity(engine, { ...demand, requests: 2_000_000 }).instances > 100, true);
});

test('docs/operations.md has the results of the checked-in unit costs', () => {
  const docs = readFileSync(join(import.meta.dirname, '../docs/operations.md'), 'utf8');
  const costs = readUnitCosts();
  for (const [people, risks] of [
    [10_000, 10_000],
    [1_000_000, 1_000_000],
    [1_000_000, 100_000_000],
  ] as const) {
    const table = capacityTable(costs, completeDemand({ people, risks })).join('\n');
    assert.ok(
      docs.includes(table),
      `npm run bench -- capacity --people ${people} --risks ${risks}\n${table}`,
    );
  }
  for (const [kind, { service }] of Object.entries(costs.engines.sqlite.cpu_ms)) {
    const { service: onPostgres, database } = costs.engines.postgres.cpu_ms[kind as keyof Engine['cpu_ms']];
    assert.ok(docs.includes(`| ${service} | ${onPostgres} | ${database} |`), kind);
  }
  for (const [table, bytes] of Object.entries(costs.engines.sqlite.bytes_per_row)) {
    const onPostgres = costs.engines.postgres.bytes_per_row[table as keyof Engine['bytes_per_row']];
    assert.ok(docs.includes(`| ${bytes} | ${onPostgres} |`), table);
  }
});
