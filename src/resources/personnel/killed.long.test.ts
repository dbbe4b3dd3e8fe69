import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { freshDatabase, onBothEngines } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import { openDatabase } from '../../store/open.ts';
import { bySystem } from '../../store/writes/change.ts';
import { issueWrites } from '../issues/queries.ts';
import { createKey } from '../keys/queries.ts';
import { createItem } from '../project-items/create.ts';
import { createProject } from '../projects/queries.ts';
import { riskWrites } from '../risks/queries.ts';
import { taskWrites } from '../tasks/queries.ts';
import { createPerson } from './queries.ts';

const counts = { tasks: 200, issues: 150, risks: 150 };

/** Creates two people, 500 assignments of the first one, and a key. */
async function fill({ write }: Database) {
  return write(async (db) => {
    const change = bySystem(systemClock(), 'a test');
    const [from, to] = [
      (await createPerson(db, { name: 'Ada' }, change)).user_id,
      (await createPerson(db, { name: 'Bob' }, change)).user_id,
    ];
    const { id } = await createProject(db, { name: 'Apollo' }, change);
    for (let i = 0; i < counts.tasks; i++)
      await createItem(db, taskWrites, id, { title: 'x', assignee_user_id: from }, change);
    for (let i = 0; i < counts.issues; i++)
      await createItem(db, issueWrites, id, { title: 'x', owner_user_id: from }, change);
    for (let i = 0; i < counts.risks; i++)
      await createItem(db, riskWrites, id, { title: 'x', owner_user_id: from }, change);
    const { secret } = await createKey(
      db,
      { name: 'test', scopes: ['personnel.manage', 'projects.manage'] },
      change,
    );
    return { from, to, secret };
  });
}

/** Counts the rows that a hand-over changed, in one statement. */
async function countChanges({ db }: Database, { from, to }: { from: string; to: string }) {
  const { rows } = await sql<Record<string, number>>`select
    (select count(*) from tasks where assignee_user_id = ${to} and version = 2) as tasks,
    (select count(*) from issues where owner_user_id = ${to} and version = 2) as issues,
    (select count(*) from risks where owner_user_id = ${to} and version = 2) as risks,
    (select count(*) from past_risks where owner_user_id = ${from}) as past,
    (select count(*) from history where ${sql.ref('from')} = ${JSON.stringify(from)}) as history,
    (select count(*) from people where user_id = ${from} and status = 'inactive') as inactive`.execute(db);
  return rows[0];
}

const none = { tasks: 0, issues: 0, risks: 0, past: 0, history: 0, inactive: 0 };
const all = { ...counts, past: counts.risks, history: 500, inactive: 1 };

onBothEngines('a hand-over of 500 assignments by a process that is killed', (_, engine) => {
  const begin = async (t: Parameters<typeof startMuster>[0]) => {
    const { url, drop } = await freshDatabase(engine);
    const database = openDatabase(url);
    t.after(async () => {
      await database.close();
      await drop();
    });
    await database.migrate();
    const people = await fill(database);
    const start = async () => {
      const running = await startMuster(t, temporaryFolder(t), { MUSTER_DATABASE_URL: url });
      const handOver = () =>
        fetch(`${running.origin}/v1/personnel/${people.from}/deactivate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${people.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ handover_to_user_id: people.to }),
        });
      const kill = async () => {
        running.child.kill('SIGKILL');
        await running.exit;
      };
      return { handOver, kill };
    };
    return { database, people, start };
  };

  test('moves everything or nothing', async (t) => {
    const { database, people, start } = await begin(t);
    assert.deepEqual(await countChanges(database, people), none);
    let moved = false;
    for (let waitMs = 0; !moved; waitMs = waitMs * 2 + 3) {
      const { handOver, kill } = await start();
      const response = handOver().catch(() => undefined);
      const hasResponded = (await Promise.race([response, setTimeout(waitMs)])) !== undefined;
      await kill();
      const left = await countChanges(database, people);
      moved = left?.inactive === 1;
      assert.deepEqual(left, moved ? all : none);
      if (hasResponded) assert.ok(moved, 'a confirmed hand-over is stored');
    }
  });

  if (engine === 'postgres') {
    test('moves nothing when it is killed before its last change', async (t) => {
      const { database, people, start } = await begin(t);
      const { handOver, kill } = await start();
      await database.write(async (db) => {
        // Locks the number of the last event, which a hand-over takes when all its rows are changed.
        await sql`select version from data_versions where table_name = 'events' for update`.execute(db);
        void handOver().catch(() => undefined);
        const isWaiting = async () => {
          const { rows } = await sql`select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%data_versions%'`.execute(
            database.db,
          );
          return rows.length > 0;
        };
        while (!(await isWaiting())) await setTimeout(10);
        await kill();
      });
      assert.deepEqual(await countChanges(database, people), none);
      const { handOver: again } = await start();
      assert.equal((await again()).status, 200);
      assert.deepEqual(await countChanges(database, people), all);
    });
  }
});
