import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFailuresChangeNothing } from '../../test/failures.ts';
import { onBothEngines } from '../../test/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

onBothEngines('transactions that fail once after their work', (start) => {
  const rows = Array.from({ length: 52 }, (_, i) => i);

  test('lose no row of an import', (t) =>
    assertFailuresChangeNothing(t, start, {
      unknown: 2,
      async act(service, key) {
        const lines = rows.map((i) => `${i},Person ${i},${i % 30 === 7 ? `Person ${i + 20}` : ''}`);
        const file = `external_id,name,manager\n${lines.join('\n')}\n`;
        const { body } = await service.upload('/v1/personnel/import?mode=upsert', key, file);
        assert.equal(body.results.length, rows.length);
        return body;
      },
    }));

  test('apply a bulk change once', (t) =>
    assertFailuresChangeNothing(t, start, {
      async prepare(service, key) {
        await service.make('/v1/projects', key, { name: 'Apollo' });
        await service.make('/v1/projects', key, { name: 'Gemini' });
        const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
        for (const project of ['APOLLO', 'GEMINI'])
          await service.make(`/v1/projects/${project}/risks`, key, { title: 'x', probability: 3, impact: 3 });
        return user_id;
      },
      async act(service, key, owner_user_id) {
        const items = [{ id: 'APOLLO-R1' }, { id: 'GEMINI-R1', changes: { impact: 5 } }];
        const changes = { owner_user_id, status: 'mitigating', reason: 'x' };
        return (await service.post('/v1/bulk/risks', key, { items, changes })).body;
      },
    }));

  test('remove only the members who are missing in a sync', (t) =>
    assertFailuresChangeNothing(t, start, {
      // After the one that reads whom the source has brought.
      unknown: 2,
      async prepare(service, key) {
        const people = rows.map((i) => `Person ${i}\n`).join('');
        await service.upload('/v1/personnel/import', key, `name\n${people}`);
        const file = `Group,Members\n${rows.map((i) => `Group ${i},Person ${i}\n`).join('')}`;
        await service.upload('/v1/groups/import?mode=sync&source=ad', key, file);
      },
      async act(service, key) {
        const file = `Group,Members\n${rows.map((i) => `Group ${i},${i < 2 ? '' : `Person ${i}`}\n`).join('')}`;
        const { body } = await service.upload('/v1/groups/import?mode=sync&source=ad', key, file);
        const leavers: Any[] = body.summary.leavers;
        assert.deepEqual(
          leavers.map(({ name }) => name),
          ['Person 0 (Group 0)', 'Person 1 (Group 1)'],
        );
        return body;
      },
    }));

  test('hand over once', (t) =>
    assertFailuresChangeNothing(t, start, {
      async prepare(service, key) {
        const { user_id: boss } = await service.make('/v1/personnel', key, { name: 'Boss' });
        const { user_id: ada } = await service.make('/v1/personnel', key, { name: 'Ada' });
        await service.make('/v1/projects', key, { name: 'Apollo', lead_user_id: ada });
        for (const title of ['x', 'y'])
          await service.make('/v1/projects/APOLLO/tasks', key, { title, assignee_user_id: ada });
        await service.make('/v1/groups', key, { name: 'Ops', lead_user_id: ada });
        return { ada, boss };
      },
      async act(service, key, { ada, boss }) {
        const path = `/v1/personnel/${ada}`;
        const gone = await service.post(`${path}/deactivate`, key, { handover_to_user_id: boss });
        const [handover] = await service.list(`${path}/handovers`, key);
        return [gone.body, (await service.post(`${path}/handovers/${handover.id}/undo`, key, {})).body];
      },
    }));
});
