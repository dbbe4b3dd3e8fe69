import assert from 'node:assert/strict';
import { systemClock } from '../src/core/clock.ts';
import { personRow } from '../src/resources/personnel/queries.ts';
import type { Benchmark } from './benchmarks.ts';
import { countPeople } from './checks.ts';
import type { InsertLoop } from './children/insert-loop.ts';
import { authHeaders, copyDataset, type Dataset, sqliteFile } from './datasets.ts';
import { pgbenchVersion, runStatement, type Statement } from './pgbench.ts';
import { nodeScript, run } from './processes.ts';
import { type BenchmarkContext, defaultConnections, measureLoad } from './runner.ts';
import { startService } from './servers.ts';

export const addPerson: Benchmark = {
  name: 'add-person',
  work: `POST /v1/personnel, ${defaultConnections} connections, durable`,
  baseline: 'one durable insert after another in a loop',
  goal: { judged_by: 'ratio', bound: 0.28 },
  async run(context) {
    const { warm, seconds, roster } = context;
    const loop: InsertLoop = { file: sqliteFile(copyDataset(roster, 'loop')), warm, seconds };
    const { measurement } = JSON.parse(
      await run(...nodeScript('children/insert-loop.ts', JSON.stringify(loop))),
    );
    return { baseline: measurement, work: await measurePosts(context, copyDataset(roster, 'served')) };
  },
};

export const addPersonOnPostgres: Benchmark = {
  name: 'postgres-add-person',
  work: `POST /v1/personnel, PostgreSQL, ${defaultConnections} connections`,
  baseline: `the same inserts by ${pgbenchVersion() ? 'pgbench' : 'bare pg (no pgbench here)'}`,
  goal: { judged_by: 'ratio', bound: 0.5 },
  async run(context) {
    const { warm, seconds, folder, postgres } = context;
    const options = { url: postgres.url, connections: defaultConnections, warm, seconds };
    return {
      baseline: await runStatement(insertStatement(), folder, options),
      work: await measurePosts(context, postgres),
    };
  },
};

async function measurePosts(context: BenchmarkContext, dataset: Dataset) {
  await using service = await startService(dataset);
  const body =
    '{"name":"Bench Person","email":"served-{n}@example.com","title":"Engineer","department":"Operations"}';
  const writes = { every: 1, method: 'POST', path: '/v1/personnel', body } as const;
  const before = await countPeople(service, dataset);
  const work = await measureLoad(context, [service], {
    path: '/v1/personnel',
    headers: authHeaders(dataset),
    writes,
  });
  const added = (await countPeople(service, dataset)) - before;
  assert.ok(added >= work.requests, `${work.requests} responses, but only ${added} people were added`);
  return work;
}

/**
 * One statement that writes the rows a POST writes: the person, the history and the event, whose sequence it reserves, and
 * the versions of the tables.
 */
function insertStatement(): Statement {
  const moment = systemClock();
  const person = { name: 'Bench Person', title: 'Engineer', department: 'Operations' };
  const parameters: unknown[] = [];
  const param = (value: unknown) => `cast($${parameters.push(value)} as text)`;
  const unique = "replace(cast(gen_random_uuid() as text), '-', '')";
  const row = Object.entries(personRow('', person, moment)).map(([column, value]) => {
    if (column === 'user_id') return [column, `'usr_' || ${unique}`];
    if (column === 'email') return [column, `${unique} || '@example.com'`];
    return [column, typeof value === 'string' ? param(value) : String(value ?? null)];
  });
  const inserted = {
    history: {
      id: "'hst_' || user_id",
      subject_id: 'user_id',
      at: param(moment.now),
      key_name: "'bench'",
      field: "'created'",
      '"from"': "'null'",
      '"to"': param(JSON.stringify(person.name)),
    },
    events: {
      sequence: 'version',
      id: "'evt_' || user_id",
      type: "'person.created'",
      also: "'[]'",
      at: param(moment.now),
      key_name: "'bench'",
      subject_type: "'person'",
      subject_id: 'user_id',
      data: param(JSON.stringify(personRow('', person, moment))),
      previous: "'{}'",
    },
  };
  const insert = (table: keyof typeof inserted, from: string) =>
    `insert into ${table} (${Object.keys(inserted[table])}) select ${Object.values(inserted[table])} from ${from}`;
  const bump = 'update data_versions set version = version + 1 where table_name';
  return {
    sql: `with person as (insert into people (${row.map(([column]) => column)})
        values (${row.map(([, value]) => value)}) returning user_id),
      entry as (${insert('history', 'person')}),
      reserved as (${bump} = 'events' returning version),
      bumped as (${bump} in ('history', 'people'))
      ${insert('events', 'person, reserved')}`.replaceAll(/\s+/g, ' '),
    parameters,
  };
}
