import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { version } from '../src/core/version.ts';
import type { Tool } from './load.ts';
import { pgbenchVersion } from './pgbench.ts';

export function describeMachine() {
  const [load = 0] = loadavg();
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    load_at_start: Number(load.toFixed(1)),
  };
}

export async function describeVersions(tool: Tool, postgresUrl: string) {
  const sqlite = new Sqlite(':memory:').prepare('select sqlite_version()').pluck().get() as string;
  const client = new pg.Client(postgresUrl);
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  return {
    muster: version,
    node: process.versions.node,
    sqlite,
    postgres: rows[0]?.server_version ?? 'unknown',
    load: tool.name,
    pgbench: pgbenchVersion() ?? 'none: a bare loop in Node',
  };
}
