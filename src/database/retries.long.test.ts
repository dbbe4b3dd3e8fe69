import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settableClock } from '../../test/clock.ts';
import type { Failure } from '../../test/failing-database.ts';
import { assertFailuresChangeNothing, repeated, type Scenario } from '../../test/failures.ts';
import { startReceiver } from '../../test/receiver.ts';
import { onBothEngines, type TestService } from '../../test/service.ts';
import { expireAcceptances } from '../jobs/acceptances.ts';
import { writeDatedEvents } from '../jobs/dated-events.ts';
import { deleteOldHistory } from '../jobs/history-retention.ts';
import {
  advanceSequence,
  deleteExpiredSignIns,
  deleteOldDeliveries,
  deleteOldEvents,
  deleteOldResponses,
} from '../jobs/retention.ts';
import { presets } from '../resources/risk-model/presets.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const rows = Array.from({ length: 70 }, (_, i) => i);

/** A file with two rows whose keys and references are those of later rows, and one that fails. */
const items = (kind: string, owner: string) =>
  `Key,Title,External ID,${owner},Status\n${rows
    .map((i) => {
      const number = i === 0 ? 500 : i === 60 ? 450 : i;
      const status = i === 30 ? 'no such status' : '';
      return `APOLLO-${kind}${number},Item ${i},x${i},${i % 9 === 0 ? 'Somebody New' : `Person ${i % 5}`},${status}\n`;
    })
    .join('')}`;

async function prepare(service: TestService, key: string) {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const manager_user_id = ids[i - 1] ?? null;
    const person = { name: `Person ${i}`, email: `p${i}@example.com`, manager_user_id };
    ids.push((await service.make('/v1/personnel', key, person)).user_id);
  }
  const [boss, ada] = ids;
  for (const name of ['Apollo', 'Gemini'])
    await service.make('/v1/projects', key, { name, lead_user_id: ada });
  for (const project of ['APOLLO', 'GEMINI'])
    for (const kind of ['risks', 'issues', 'tasks']) {
      const responsible =
        kind === 'tasks'
          ? { assignee_user_id: ada }
          : {
              owner_user_id: ada,
              ...(kind === 'risks' && { probability: 5, impact: 5, category: 'supply' }),
            };
      for (const title of ['x', 'y'])
        await service.make(`/v1/projects/${project}/${kind}`, key, { title, ...responsible });
    }
  const { id: group } = await service.make('/v1/groups', key, { name: 'Ops', lead_user_id: ada });
  await service.post(`/v1/groups/${group}/members`, key, { user_ids: [ada] });
  return { boss, ada, ids, group };
}

/** The response without what differs in each run. */
const sent = ({ status, body }: { status: number; body: Any }) => {
  assert.ok(status < 300, JSON.stringify(body));
  return body;
};

const imports: Record<string, [path: string, file: string]> = {
  people: [
    '/v1/personnel/import?mode=upsert&unknown_people=create',
    `External ID,Name,Manager\n${rows.map((i) => `${i},Name ${i},${i % 20 === 3 ? `Name ${i + 30}` : i % 20 === 4 ? 'Somebody New' : ''}\n`).join('')}`,
  ],
  groups: [
    '/v1/groups/import?mode=upsert&unknown_people=create',
    `Name,Parent,Members\n${rows.map((i) => `Group ${i},${i % 20 === 3 && i < 60 ? `Group ${i + 20}` : ''},Person ${i % 5}; Somebody New\n`).join('')}`,
  ],
  projects: [
    '/v1/projects/import?mode=upsert',
    `Key,Name,Lead\n${rows.map((i) => `P${i}X,Project ${i},Person ${i % 5}\n`).join('')}`,
  ],
  risks: ['/v1/projects/APOLLO/risks/import?mode=upsert&unknown_people=create', items('R', 'Owner')],
  issues: ['/v1/projects/APOLLO/issues/import?mode=upsert&unknown_people=leave_empty', items('I', 'Owner')],
  tasks: ['/v1/projects/APOLLO/tasks/import?mode=upsert', items('T', 'Assignee')],
  'risks of several projects': [
    '/v1/imports/risks?mode=upsert&create_projects=true',
    `Project,External ID,Title\n${rows.map((i) => `${i % 3 === 0 ? 'Apollo' : `New ${i % 7}`},${i},Risk ${i}\n`).join('')}`,
  ],
};

onBothEngines('transactions that fail once after their work', (start, engine) => {
  const failures: Failure[] = ['conflict', 'unknown, saved', 'unknown, not saved'];
  if (engine === 'postgres') failures.push('lost connection');
  const check = (t: TestContext, scenario: Scenario) =>
    assertFailuresChangeNothing(t, start, scenario, failures);

  for (const [what, [path, file]] of Object.entries(imports)) {
    test(`leave what an import of ${what} leaves`, (t) =>
      check(t, {
        // An import that continues gives items other numbers than those that an earlier one has skipped.
        unknown: ['risks', 'issues', 'tasks'].includes(what) ? 0 : 1,
        prepare,
        act: async (service, key) => sent(await service.upload(path, key, file)),
      }));

    test(`leave what an atomic import of ${what} leaves, and nothing of a dry run`, (t) =>
      check(t, {
        prepare,
        async act(service, key) {
          // The rows that fail.
          const good = file.replace(/.*no such status\n/, '').replaceAll('Somebody New', 'Person 1');
          const headers = { 'content-type': 'text/csv', 'idempotency-key': 'once' };
          const dry = sent(await service.upload(`${path}&dry_run=true`, key, good));
          return [dry, sent(await service.post(`${path}&atomic=true`, key, good, headers))];
        },
      }));
  }

  test('leave what bulk changes and merged categories leave', (t) =>
    check(t, {
      prepare,
      async act(service, key, { boss, group }) {
        const all = (kind: string) =>
          ['APOLLO', 'GEMINI'].flatMap((project) => [1, 2].map((i) => ({ id: `${project}-${kind}${i}` })));
        const many = rows.slice(0, 30).flatMap(() => all('T').slice(0, 1));
        const bulk = async (kind: string, items: object[], changes: object) =>
          sent(await service.post(`/v1/bulk/${kind}`, key, { items, changes }));
        const results = [
          await bulk('risks', all('R'), { owner_user_id: boss, status: 'mitigating', probability: 2 }),
          await bulk('issues', all('I'), { assignee_user_id: boss, status: 'in_progress' }),
          await bulk('tasks', [...all('T'), ...many], { assignee_user_id: boss, status: 'in_progress' }),
        ];
        const from = await service.make('/v1/categories', key, { name: 'supply' });
        const to = await service.make('/v1/categories', key, { name: 'vendors' });
        sent(await service.patch(`/v1/categories/${from.id}`, key, { name: 'suppliers' }));
        results.push(sent(await service.post(`/v1/categories/${from.id}/merge`, key, { into: to.id })));
        results.push(sent(await service.post(`/v1/groups/${group}/members`, key, { user_ids: [boss] })));
        return results;
      },
    }));

  test('leave what hand-overs and their undo leave', (t) =>
    check(t, {
      prepare,
      async act(service, key, { boss, ada, group }) {
        const path = `/v1/personnel/${ada}`;
        const parts = [{ kinds: ['issues'], handover_to_group_id: group }];
        const results = [];
        for (const body of [{ handover_to_user_id: boss }, { handover_to_user_id: boss, parts }]) {
          results.push(sent(await service.post(`${path}/deactivate`, key, { ...body, dry_run: true })));
          results.push(sent(await service.post(`${path}/deactivate`, key, body)));
          const all: Any[] = await service.list(`${path}/handovers`, key);
          const last = all.find(({ undone_at }) => undone_at === null);
          results.push(sent(await service.post(`${path}/handovers/${last.id}/undo`, key, {})));
        }
        sent(await service.post(`${path}/deactivate`, key, {}));
        return [...results, sent(await service.post(`${path}/reactivate`, key, {}))];
      },
    }));

  test('leave what syncs of people leave', (t) =>
    check(t, {
      unknown: 2,
      prepare,
      async act(service, key) {
        const sync = async (who: readonly number[], query = '') => {
          const file = `Email,Name,Manager\n${who.map((i) => `p${i}@example.com,Person ${i},${i % 5 === 0 ? '' : `Person ${(i % 5) - 1}`}\n`).join('')}`;
          const path = `/v1/personnel/import?mode=sync&source=hr&max_leaving=50${query}`;
          return sent(await service.upload(path, key, file)).summary;
        };
        const without = rows.filter((i) => i !== 1 && i < 60);
        return [
          await sync(rows),
          await sync(without, '&dry_run=true'),
          await sync(without, '&handover_to=manager'),
          await sync(rows),
        ];
      },
    }));

  test('leave what changes of the risk model leave', (t) =>
    check(t, {
      // A version that is restored twice is two versions.
      unknown: 0,
      prepare,
      async act(service, key) {
        const model = presets.find(({ id }) => id === 'four_by_four')?.model;
        const put = async (body: unknown) => sent(await service.call('PUT', '/v1/risk-model', key, body));
        return [await put(model), await put({ restore_version: 1 }), await put({ restore_version: 2 })];
      },
    }));

  test('deliver each event to a webhook', async (t) => {
    const receiver = await startReceiver(t);
    const numbers: number[] = [];
    await check(t, {
      options: { environment: { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' } },
      async prepare(service, key) {
        await prepare(service, key);
        return service.make('/v1/webhooks', key, { url: receiver.url, types: ['risk.*', 'issue.*'] });
      },
      async act(service, key, { id }, clock) {
        const before = receiver.received.length;
        for (const kind of ['risks', 'issues'])
          for (const title of ['a', 'b', 'c'])
            await service.make(`/v1/projects/APOLLO/${kind}`, key, { title });
        // A claim whose outcome is unknown is attempted again when it ends.
        Object.assign(service.faults, { transactions: 0, isFailing: (number: number) => number < 4 });
        for (const time of ['12:00', '12:00', '12:00', '12:00', '12:30', '13:30']) {
          clock.set(`2026-11-15T${time}:00Z`);
          await service.app.webhooks.drain();
        }
        numbers.push(receiver.received.length - before);
        Object.assign(service.faults, { isFailing: () => false });
        const deliveries: Any[] = await service.list(`/v1/webhooks/${id}/deliveries`, key);
        assert.deepEqual(
          deliveries.map(({ status }) => status),
          Array(6).fill('delivered'),
        );
        return deliveries.map(({ event_type }) => event_type).sort();
      },
    });
    assert.ok(
      numbers.every((number) => number >= 6),
      numbers.join(),
    );
  });

  test('do in a job what it does undisturbed', (t) =>
    check(t, {
      async prepare(service, key) {
        await prepare(service, key);
        const accepted = { status: 'accepted', acceptance_reason: 'x', accepted_until: '2026-12-01' };
        for (const project of ['APOLLO', 'GEMINI'])
          await service.patch(`/v1/projects/${project}/risks/${project}-R1`, key, accepted);
        for (const kind of ['issues', 'tasks'])
          await service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'due', due_on: '2026-11-20' });
        await writeDatedEvents(service.database, settableClock('2026-11-15T12:00:00Z')());
      },
      async act(service) {
        const { database } = service;
        const later = settableClock('2027-11-25T12:00:00Z')();
        const jobs = [
          () => expireAcceptances(database, later),
          () => writeDatedEvents(database, later),
          () => deleteOldHistory(database, later, 30),
          () => deleteOldHistory(database, later, 30),
          () => deleteOldEvents(database, later, 30),
          () => deleteOldDeliveries(database, later, 30),
          () => deleteOldResponses(database, later),
          () => deleteExpiredSignIns(database, later, 30),
          () => advanceSequence(database, later),
        ];
        for (const job of jobs) await repeated(service, job);
      },
    }));

  test('leave what each kind of request leaves', (t) =>
    check(t, {
      prepare,
      async act(service, key, { boss, ada, group }) {
        const { make, patch, post, call } = service;
        const risk = '/v1/projects/APOLLO/risks/APOLLO-R1';
        const results: Any[] = [
          sent(await patch(`/v1/personnel/${boss}`, key, { title: 'Director', email: 'boss@example.com' })),
          sent(await patch(risk, key, { probability: 1, status: 'mitigating' })),
          sent(await patch('/v1/projects/GEMINI', key, { appetite: 9 })),
          sent(await patch(`/v1/groups/${group}`, key, { name: 'Operations' })),
          await make(`${risk}/comments`, key, { body: 'Why?' }),
          sent(await post(`${risk}/materialize`, key, { title: 'It occurred' })),
          await make('/v1/views', key, { list: 'risks', name: 'High', query: 'level=high' }),
          sent(await patch('/v1/organization', key, { name: 'Example' })),
          sent(await call('PUT', `/v1/groups/${group}/members/${boss}`, key)),
          sent(
            await call('PUT', `/v1/personnel/${ada}/access`, key, {
              scopes: ['projects.read'],
              project_ids: null,
            }),
          ),
        ];
        await service.delete(`/v1/groups/${group}/members/${boss}`, key);
        await service.delete('/v1/projects/GEMINI/tasks/GEMINI-T1', key);
        await service.delete('/v1/projects/GEMINI/risks/GEMINI-R1', key);
        sent(await post('/v1/projects/GEMINI/archive', key, {}));
        sent(await post('/v1/projects/GEMINI/unarchive', key, {}));
        return results;
      },
    }));
});
