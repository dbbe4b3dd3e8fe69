import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompiledQuery, type DatabaseConnection, DummyDriver, Kysely } from 'kysely';
import pg from 'pg';
import { systemClock } from '../src/core/clock.ts';
import { postgresEngine } from '../src/database/postgres/engine.ts';
import { listPage } from '../src/lists/list.ts';
import { riskList } from '../src/resources/risks/register.ts';
import type { Tables } from '../src/store/tables.ts';
import type { StatementLoop } from './children/statement-loop.ts';
import { NoResponse } from './load.ts';
import { type Measurement, summarizeDurations } from './measurement.ts';
import { nodeScript, run } from './processes.ts';

export type Statement = { sql: string; parameters: readonly unknown[] };

/** Records the statement that the service runs on PostgreSQL for the first `limit` risks of the register. */
export async function recordPageStatement(url: string, limit: number, base_url: string): Promise<Statement> {
  const engine = postgresEngine(url, {}, { baseUrl: base_url });
  const { quick } = engine.dialects;
  const recorder = new Recorder();
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => quick.createAdapter(),
      createQueryCompiler: () => quick.createQueryCompiler(),
      createIntrospector: (db) => quick.createIntrospector(db),
      createDriver: () => recorder,
    },
  });
  const register = {
    filters: { status: ['active' as const], archived: 'false' as const },
    moment: systemClock(),
  };
  // The service reads one extra row to find out whether there is a next page.
  await listPage(db, riskList(register, 'rank'), undefined, limit + 1);
  await engine.close();
  if (!recorder.query) throw new Error('the list ran no statement');
  return recorder.query;
}

/** Runs the statement and parses its JSON rows. */
export async function fetchRows(url: string, { sql, parameters }: Statement): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ json: string }>(sql, [...parameters]);
  await client.end();
  return rows.map(({ json }) => JSON.parse(json));
}

/** A driver that records the query instead of running it. */
class Recorder extends DummyDriver {
  query: CompiledQuery | undefined;

  override async acquireConnection(): Promise<DatabaseConnection> {
    return {
      executeQuery: async (query) => {
        this.query = query;
        return { rows: [] };
      },
      streamQuery: () => {
        throw new Error('a page is not streamed');
      },
    };
  }
}

export const pgbenchVersion = () => {
  try {
    return /\d+(\.\d+)*/.exec(
      execFileSync('pgbench', ['--version'], { encoding: 'utf8', stdio: 'pipe' }),
    )?.[0];
  } catch {
    return undefined;
  }
};

type RunOptions = Omit<StatementLoop, 'sql' | 'parameters'>;

/** Uses `pgbench` if it is installed, otherwise a loop in Node. */
export async function runStatement(
  statement: Statement,
  folder: string,
  options: RunOptions,
): Promise<Measurement> {
  if (pgbenchVersion()) return runWithPgbench(statement, folder, options);
  const output = await run(
    ...nodeScript('children/statement-loop.ts', JSON.stringify({ ...statement, ...options })),
  );
  return JSON.parse(output).measurement;
}

async function runWithPgbench(
  { sql, parameters }: Statement,
  folder: string,
  options: RunOptions,
): Promise<Measurement> {
  const { url, connections, warm, seconds } = options;
  const file = join(folder, 'page.pgbench');
  const log = join(folder, 'pgbench-log');
  writeFileSync(file, `${sql.replaceAll(/\$(\d+)/g, ':p$1')};\n`);
  const { hostname, port, username, password, pathname } = new URL(url);
  const arguments_ = ['--no-vacuum', '--protocol=prepared', `--client=${connections}`, `--file=${file}`];
  const values = parameters.map((value, i) => `--define=p${i + 1}=${value}`);
  const environment = {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
  };
  await run('pgbench', [...arguments_, ...values, `--time=${warm}`], environment);
  const output = await run(
    'pgbench',
    [...arguments_, ...values, `--time=${seconds}`, '--log', `--log-prefix=${log}`],
    environment,
  );
  const logs = globSync(`${log}.*`);
  const durations = logs.flatMap((log) => readLog(readFileSync(log, 'utf8')));
  for (const log of logs) rmSync(log);
  if (durations.length === 0) throw new NoResponse('pgbench finished no transaction');
  const [, per_second] = /^tps = ([\d.]+)/m.exec(output) ?? [];
  return { ...summarizeDurations(durations, seconds), per_second: Number(per_second) };
}

/** Each line is a transaction; the third field is its duration in microseconds. */
export const readLog = (log: string) =>
  log
    .split('\n')
    .filter(Boolean)
    .map((line) => Number(line.split(' ')[2]) / 1000);
