import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { systemClock } from '../src/core/clock.ts';
import { createKey } from '../src/resources/keys/queries.ts';
import { openDatabase } from '../src/store/open.ts';
import { stallEnvironment, takeStallMs } from '../test/loop-stall.ts';
import { databaseCpuSeconds } from './database-costs.ts';
import type { Dataset } from './datasets.ts';
import { cpuSecondsOf } from './memory.ts';
import { startService } from './servers.ts';

/** What a request costs that changes many rows, and what others notice of it. */
export type ManyRows = {
  rows: number;
  /** Milliseconds of CPU time for 1,000 rows, of the service and of the PostgreSQL server. */
  cpu_ms_per_1000: { service: number; database: number };
  /** The most CPU time that one turn of the event loop took. */
  longest_turn_ms: number;
  /** Writes of another client meanwhile that were refused, and how long one waited at most. */
  refused: number;
  longest_wait_ms: number;
};

/** Whether other requests wait for it too long, or are refused. */
export const blocksOthers = ({ longest_turn_ms, refused }: ManyRows): boolean =>
  longest_turn_ms > 100 || refused > 0;

/** Runs each kind of request that changes many rows once, while another client writes. Changes the dataset. */
export async function measureManyRows(dataset: Dataset, counts: { items: number; people: number }) {
  const { handover_to, key, group } = await prepare(dataset, counts);
  await using service = await startService(dataset, stallEnvironment);
  const stalls = await service.waitForOutput(/loop stalls at port \d+/);
  const takeStall = () => takeStallMs({ stdout: () => stalls[0] });
  const send = async (method: string, path: string, body?: string | object, type = 'application/json') => {
    const response = await fetch(service.origin + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const succeed = async (...request: Parameters<typeof send>) => {
    const { status, text } = await send(...request);
    if (status >= 400)
      throw new Error(`${request[0]} ${request[1]} returned ${status}: ${text.slice(0, 500)}`);
    return text;
  };
  const { user_id: other } = JSON.parse(await succeed('POST', '/v1/personnel', { name: 'Another' }));

  const measured: Record<string, ManyRows> = {};
  const measure = async (name: string, rows: number, work: () => Promise<unknown>) => {
    await takeStall();
    const before = [cpuSecondsOf(service.pid), await databaseCpuSeconds(dataset.url)] as const;
    const outcome = { refused: 0, longest_wait_ms: 0 };
    let isDone = false;
    const writeOthers = async () => {
      for (let i = 0; !isDone; i++) {
        const start = performance.now();
        const { status } = await send('PATCH', `/v1/personnel/${other}`, { title: `Title ${i}` });
        if (status >= 400) outcome.refused++;
        outcome.longest_wait_ms = Math.max(outcome.longest_wait_ms, Math.round(performance.now() - start));
        await setTimeout(20);
      }
    };
    const others = writeOthers();
    await work().finally(() => {
      isDone = true;
    });
    await others;
    const perThousand = (seconds: number) => Number(((seconds * 1e6) / rows).toPrecision(3));
    measured[name] = {
      rows,
      cpu_ms_per_1000: {
        service: perThousand(cpuSecondsOf(service.pid) - before[0]),
        database: perThousand((await databaseCpuSeconds(dataset.url)) - before[1]),
      },
      longest_turn_ms: Math.round(await takeStall()),
      ...outcome,
    };
    console.log(name, JSON.stringify(measured[name]));
  };

  const person = `/v1/personnel/${personId(1)}`;
  let handover_id = '';
  await measure('hand_over', counts.items, async () => {
    const text = await succeed('POST', `${person}/deactivate`, { handover_to_user_id: handover_to });
    ({ handover_id } = JSON.parse(text));
  });
  await measure('undo_hand_over', counts.items, () =>
    succeed('POST', `${person}/handovers/${handover_id}/undo`, {}),
  );
  const category = JSON.parse(await succeed('POST', '/v1/categories', { name: 'Logistics' }));
  await measure('rename_category', counts.items * 2, () =>
    succeed('PATCH', `/v1/categories/${category.id}`, { name: 'Transport' }),
  );
  await measure('delete_group', counts.people, () => succeed('DELETE', `/v1/groups/${group}`));
  const tasks = (order: (a: number, b: number) => number) =>
    Array.from({ length: counts.items }, (_, i) => i % 100)
      .toSorted(order)
      .map((project, i) => `P${100_001 + (project === 49 ? 0 : project === 99 ? 1 : project)},Task ${i}`);
  const importTasks = (rows: string[]) =>
    succeed('POST', '/v1/imports/tasks', ['Project,Title', ...rows].join('\n'), 'text/csv');
  await measure('import_sorted', counts.items, () => importTasks(tasks((a, b) => a - b)));
  await measure('import_mixed', counts.items, () => importTasks(tasks(() => 0)));
  // At least as many as the changes above.
  await measure('stream_past_events', counts.items * 6, () => followPast(service.origin, key));
  return measured;
}

/** Follows the events from the first one with a key that may read none of their resources, until the first heartbeat. */
async function followPast(origin: string, key: string): Promise<void> {
  const response = await fetch(`${origin}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'follower', scopes: ['events.read'] }),
  });
  const { secret } = (await response.json()) as { secret: string };
  const stream = await fetch(`${origin}/v1/events/stream?after=0`, {
    headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
  });
  // Only a stream that has caught up gets the number of the last event.
  for await (const chunk of stream.body ?? [])
    if (/^id: \d+\n: heartbeat/m.test(Buffer.from(chunk).toString())) return;
}

/** Gives the first person tasks, a category risks, and a group all people. */
async function prepare({ url }: Dataset, { items, people }: { items: number; people: number }) {
  const database = openDatabase(url);
  const group = 'grp_00000000000000000000000000';
  try {
    return await database.write(async (db) => {
      if (url.startsWith('postgres')) await sql`set local statement_timeout = 0`.execute(db);
      const moment = systemClock();
      const scopes = ['personnel.manage', 'projects.manage', 'keys.manage', 'events.read'] as const;
      const { secret } = await createKey(db, { name: 'many rows', scopes: [...scopes] }, moment);
      const writable = sql`project_id in (select id from projects where archived_at is null)`;
      await sql`update tasks set assignee_user_id = ${personId(1)}
        where id in (select id from tasks where open = 1 and ${writable} order by id limit ${sql.lit(items)})`.execute(
        db,
      );
      await sql`update risks set category = 'Logistics'
        where id in (select id from risks order by id limit ${sql.lit(items * 2)})`.execute(db);
      await sql`insert into ${sql.table('groups')} (id, version, created_at, updated_at, name, name_folded)
        values (${group}, 1, ${moment.now}, ${moment.now}, 'Everybody', 'everybody')`.execute(db);
      await sql`insert into memberships (group_id, user_id, added_at)
        select ${group}, user_id, ${moment.now} from (select user_id from people order by user_id limit ${sql.lit(people)}) as members`.execute(
        db,
      );
      return { key: secret, group, handover_to: personId(3) };
    }, 'long');
  } finally {
    await database.close();
  }
}

const personId = (number: number) => `usr_000000000000000000${10_000_000 + number}`;
