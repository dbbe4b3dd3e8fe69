import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** Rows and bytes of each table, with its indexes. */
export async function tableSizes(url: string): Promise<Record<string, { rows: number; bytes: number }>> {
  const isFile = url.startsWith('sqlite:');
  const select = isFile ? sqliteSelect(url.slice('sqlite:'.length)) : postgresSelect(url);
  const tables = await select(
    isFile
      ? `select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_master using (name) group by tbl_name`
      : `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
         where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const counted = tables.map(async ({ name, bytes }) => {
    const [{ rows } = { rows: 0 }] = await select(`select count(*) as rows from "${name}"`);
    return [name, { rows: Number(rows), bytes: Number(bytes) }];
  });
  return Object.fromEntries(await Promise.all(counted));
}

/** The CPU time of all processes of the PostgreSQL server; 0 for SQLite, which runs in the service. */
export async function databaseCpuSeconds(url: string): Promise<number> {
  if (url.startsWith('sqlite:')) return 0;
  const server = await serverPid(url);
  for (;;) {
    try {
      return serverTicks(server) / 100;
    } catch (error) {
      // A connection has ended meanwhile.
      if (!(error instanceof Error && 'code' in error && /ENOENT|ESRCH/.test(String(error.code))))
        throw error;
    }
  }
}

/** Returns the processes of the PostgreSQL server at the time of the call; none for SQLite. */
export async function postgresPids(url: string): Promise<() => number[]> {
  if (url.startsWith('sqlite:')) return () => [];
  const server = await serverPid(url);
  return () => [server, ...childrenOf(server)].map(Number);
}

async function serverPid(url: string): Promise<string> {
  const [{ data_directory } = {}] = await postgresSelect(url)('show data_directory');
  return readFileSync(join(String(data_directory), 'postmaster.pid'), 'utf8').split('\n')[0] ?? '';
}

const childrenOf = (server: string) =>
  readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ');

function serverTicks(server: string): number {
  // The server counts the time of connections that have ended (13, 14), a process its own (11, 12).
  const ticks = [ticksOf(server, 13), ...childrenOf(server).map((child) => ticksOf(child, 11))];
  return ticks.reduce((sum, one) => sum + one, 0);
}

function ticksOf(pid: string, field: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[field]) + Number(fields[field + 1]);
}

type Row = Record<string, unknown>;

const sqliteSelect = (file: string) => async (statement: string) => {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare(statement).all() as Row[];
  } finally {
    database.close();
  }
};

const postgresSelect = (connectionString: string) => async (statement: string) => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
};
