import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { ManyRows } from './many-rows.ts';

export type RequestKind =
  | 'cached_page'
  | 'not_modified'
  | 'page'
  | 'one_resource'
  | 'search'
  | 'change'
  | 'creation'
  | 'list_per_1000_rows'
  | 'summary_per_1000_risks';
type Resource = 'people' | 'projects' | 'risks' | 'issues' | 'tasks';

export type Engine = {
  /** With indexes; a person with one membership of a group. */
  bytes_per_row: Record<Resource, number>;
  /** What one change of a risk adds. */
  bytes_per_change: Record<'history' | 'events' | 'past_risks', number>;
  /** Milliseconds of CPU time of the service, and of the PostgreSQL server. */
  cpu_ms: Record<RequestKind, { service: number; database: number }>;
  /** Of the service, after all requests. */
  memory_mb: number;
  /** Requests that change many rows. Absent in costs that were measured before there was this part. */
  many_rows?: Record<string, ManyRows>;
};

/** Measured by `npm run bench -- costs`. */
export type UnitCosts = {
  muster: string;
  node: string;
  machine: object;
  dataset: object;
  engines: { sqlite: Engine; postgres: Engine };
};

export type Demand = Record<Resource, number> & {
  /** Changes of each risk, issue and task in a year, and for how many years. */
  changes: number;
  years: number;
  /** Days that events are stored: `MUSTER_EVENT_RETENTION_DAYS`. */
  retention: number;
  /** Requests of each person on a working day, and the share of them in the busiest hour. */
  requests: number;
  peak: number;
  /** The share of requests that are writes, and of reads that are served from the cache. */
  writes: number;
  cached: number;
  /** How busy a CPU may be in the busiest hour. */
  utilization: number;
};

export const defaults = {
  changes: 6,
  years: 3,
  retention: 90,
  requests: 20,
  peak: 0.2,
  writes: 0.05,
  cached: 0.5,
  utilization: 0.5,
};

/** Multiplies the demand by the unit costs of an engine. */
export function computeCapacity(engine: Engine, demand: Demand) {
  const { bytes_per_row, bytes_per_change, cpu_ms } = engine;
  const { people, risks, issues, tasks, changes, years, retention } = demand;
  const resources = Object.keys(bytes_per_row) as Resource[];
  const rowBytes = resources.reduce((sum, name) => sum + demand[name] * bytes_per_row[name], 0);
  const items = risks + issues + tasks;
  // The creation of a resource is a change too.
  const allChanges = items * (1 + changes * years) + people;
  const historyBytes =
    allChanges * bytes_per_change.history + risks * changes * years * bytes_per_change.past_risks;
  const eventBytes = ((items * changes * retention) / 365) * bytes_per_change.events;

  const perSecond = (people * demand.requests * demand.peak) / 3600;
  const mix: [kind: RequestKind, share: number][] = [
    ['change', demand.writes],
    ['cached_page', (1 - demand.writes) * demand.cached],
    ['page', (1 - demand.writes) * (1 - demand.cached)],
  ];
  const cpus = (side: 'service' | 'database') =>
    mix.reduce((sum, [kind, share]) => sum + (perSecond * share * cpu_ms[kind][side]) / 1000, 0);
  const seconds = ({ service, database }: { service: number; database: number }, thousands: number) =>
    ((service + database) * thousands) / 1000;
  return {
    rows_gb: rowBytes / 1e9,
    history_gb: historyBytes / 1e9,
    events_gb: eventBytes / 1e9,
    total_gb: (rowBytes + historyBytes + eventBytes) / 1e9,
    requests_per_second: perSecond,
    service_cpus: cpus('service'),
    database_cpus: cpus('database'),
    instances: Math.max(1, Math.ceil(cpus('service') / demand.utilization)),
    roster_seconds: seconds(cpu_ms.list_per_1000_rows, people / 1000),
    summary_seconds: seconds(cpu_ms.summary_per_1000_risks, risks / 1000),
  };
}

/** The result for both engines as lines of a Markdown table, which docs/operations.md contains. */
export function capacityTable(costs: UnitCosts, demand: Demand): string[] {
  const sqlite = computeCapacity(costs.engines.sqlite, demand);
  const postgres = computeCapacity(costs.engines.postgres, demand);
  const line = (label: string, show: (result: typeof sqlite) => string) =>
    `| ${label} | ${show(sqlite)} | ${show(postgres)} |`;
  return [
    line('rows and indexes', ({ rows_gb }) => gigabytes(rows_gb)),
    line('history', ({ history_gb }) => gigabytes(history_gb)),
    line('events', ({ events_gb }) => gigabytes(events_gb)),
    line('database', ({ total_gb }) => gigabytes(total_gb)),
    line('requests per second in the busiest hour', ({ requests_per_second }) => round(requests_per_second)),
    line('CPUs of the service then', ({ service_cpus }) => round(service_cpus)),
    line('CPUs of PostgreSQL then', ({ database_cpus }) => (database_cpus === 0 ? '' : round(database_cpus))),
    // Only one instance can serve a SQLite file.
    `| instances | ${sqlite.instances > 1 ? 'too busy for one' : 1} | ${postgres.instances} |`,
    line('CPU time of the whole roster', ({ roster_seconds }) => `${round(roster_seconds)} s`),
    line('CPU time of a summary of all risks', ({ summary_seconds }) => `${round(summary_seconds)} s`),
  ];
}

const round = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2)).replace(/\.0$/, '');
const gigabytes = (value: number) => (value >= 1 ? `${round(value)} GB` : `${round(value * 1000)} MB`);

export const readUnitCosts = (): UnitCosts =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'unit-costs.json'), 'utf8'));

/** Completes the demand: a project for 20 people, an issue for two risks, a task for an issue. */
export function completeDemand(given: Partial<Demand> & { people: number; risks: number }): Demand {
  const issues = given.issues ?? Math.ceil(given.risks / 2);
  return { ...defaults, projects: Math.ceil(given.people / 20), issues, tasks: issues, ...given };
}

/** Computes the capacity for the demand that the arguments describe. */
export function printCapacity(args: string[]): void {
  const number = (text: string) => {
    if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('Must be a number.');
    return Number(text);
  };
  const given = new Command('npm run bench -- capacity')
    .description('Computes the size of the database and the number of instances from measured unit costs.')
    .requiredOption('--people <n>', 'people on the roster', number)
    .requiredOption('--risks <n>', 'risks in all projects', number)
    .option('--projects <n>', 'projects (default: one for 20 people)', number)
    .option('--issues <n>', 'issues (default: one for two risks)', number)
    .option('--tasks <n>', 'tasks (default: one for each issue)', number)
    .option('--changes <n>', 'changes of each risk, issue and task in a year', number, defaults.changes)
    .option('--years <n>', 'years of history', number, defaults.years)
    .option('--retention <days>', 'days that events are stored', number, defaults.retention)
    .option('--requests <n>', 'requests of each person on a working day', number, defaults.requests)
    .option('--peak <share>', 'share of them in the busiest hour', number, defaults.peak)
    .option('--writes <share>', 'share of requests that are writes', number, defaults.writes)
    .option('--cached <share>', 'share of reads that are served from the cache', number, defaults.cached)
    .option('--utilization <share>', 'how busy a CPU may be', number, defaults.utilization)
    .parse(args, { from: 'user' })
    .opts<Partial<Demand> & { people: number; risks: number }>();
  const demand = completeDemand(given);
  console.log(
    Object.entries(demand)
      .map(([name, value]) => `${name} ${value.toLocaleString('en')}`)
      .join(' · '),
  );
  console.log(
    ['| | SQLite | PostgreSQL |', '|---|---|---|', ...capacityTable(readUnitCosts(), demand)].join('\n'),
  );
}
