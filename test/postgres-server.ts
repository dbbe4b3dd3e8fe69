import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

export type Command = 'start' | 'kill' | 'freeze' | 'thaw';
export type Reply = { url: string } | { error: string };

export type PostgresServer = Awaited<ReturnType<typeof startPostgresServer>>;

/**
 * Starts a PostgreSQL server for tests that kill or freeze it. Its child process also ends it when this process dies.
 * `settings` are server settings such as `max_connections=50`. `stop()` it when the test ends. With the URL of a primary,
 * it starts a standby, which replicates asynchronously until `replicateSynchronously`.
 */
export async function startPostgresServer(settings: readonly string[] = [], primaryUrl?: string) {
  const child = fork(join(import.meta.dirname, 'children/postgres.ts'), [...settings], {
    // The child must not inherit the options of the test runner.
    execArgv: [],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined, PRIMARY_URL: primaryUrl },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  // Send one command at a time: the next message is its reply.
  const send = async (command: Command) => {
    const reply = once(child, 'message');
    child.send(command);
    const [message] = (await Promise.race([reply, ended.then(() => [{ error: 'ended' }])])) as [Reply];
    if ('error' in message) throw new Error(`PostgreSQL failed to ${command}: ${message.error}`);
    return message;
  };

  const { url } = await send('start');
  /** Runs a statement as superuser, outside any transaction, in the database `postgres` or the one of the URL. */
  const run = async (
    statement: string,
    databaseUrl = `${url}/postgres`,
  ): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    /** The server URL without a database. */
    url,
    run,
    /** Creates an empty database and returns its URL. */
    async createDatabase() {
      const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
      await run(`create database ${name}`);
      return `${url}/${name}`;
    },
    /** Calls `pg_terminate_backend` for all clients of a database. */
    async terminateBackends(databaseUrl: string) {
      const name = new URL(databaseUrl).pathname.slice(1);
      await run(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name}' and pid <> pg_backend_pid() and backend_type = 'client backend'`);
    },
    /** Sends SIGKILL to the postmaster and all its processes. Data and port stay the same for `restart()`. */
    kill9: () => send('kill'),
    /** Sends SIGSTOP to all processes: connections stay open and the kernel accepts new ones, but nothing responds. */
    freeze: () => send('freeze'),
    thaw: () => send('thaw'),
    /** Restarts the server on the same port after `kill9()`; resolves when it accepts connections. */
    restart: () => send('start'),
    /** Kills the server in any state and deletes its data. */
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** From now on, the primary acknowledges a commit only when its standby has it on disk. */
export async function replicateSynchronously(primary: PostgresServer): Promise<void> {
  await primary.run("alter system set synchronous_standby_names = 'standby'");
  await primary.run('select pg_reload_conf()');
  for (let attempt = 1; ; attempt++) {
    const [standby] = await primary.run('select sync_state from pg_stat_replication');
    if (standby?.sync_state === 'sync') return;
    if (attempt === 300) throw new Error('The standby does not replicate.');
    await setTimeout(100);
  }
}
