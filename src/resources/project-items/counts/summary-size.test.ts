import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, withKey } from '../../../../test/service.ts';

/** The longest names: 200 characters of 4 bytes, or of 1 byte that JSON escapes. */
const longest = (n: number) => {
  const start = `${n}`.padStart(3, '0');
  return start + (n % 2 === 0 ? '\u{1f600}' : '"').repeat(200 - start.length);
};

const groups = 60;

type Group = { count: number };
type Rest = { groups: number; count: number };

onBothEngines('summaries', (start) => {
  test('contain the largest groups and the number of the others', async (t) => {
    const { service, key } = await withKey(start(t));
    const people: string[] = [];
    for (const name of ['Ada', 'Grace', 'Mary'])
      people.push((await service.make('/v1/personnel', key, { name })).user_id);
    for (const [i, project] of ['APOLLO', 'GEMINI', 'MERCURY'].entries()) {
      await service.make('/v1/projects', key, { name: project, key: project });
      for (let n = 0; n <= i; n++) {
        const fields = { title: 'x', owner_user_id: people[n], category: `c${n}` };
        await service.make(`/v1/projects/${project}/risks`, key, { ...fields, strategy: 'avoid' });
        const issue = { title: 'x', assignee_user_id: people[n], severity: 'high' };
        await service.make(`/v1/projects/${project}/issues`, key, issue);
      }
    }
    // Kept counts, and those that SQL computes because of a filter.
    for (const query of ['', 'strategy=avoid&']) {
      const data = await service.list(`/v1/risks/summary?${query}top=1`, key);
      assert.deepEqual(
        data.by_project.map(({ project_key, count }: Group & { project_key: string }) => [
          project_key,
          count,
        ]),
        [['MERCURY', 3]],
      );
      assert.deepEqual(data.by_project_rest, { groups: 2, count: 3 });
      assert.deepEqual(
        data.by_owner.map(({ owner_name, count }: Group & { owner_name: string }) => [owner_name, count]),
        [['Ada', 3]],
      );
      assert.deepEqual(data.by_owner_rest, { groups: 2, count: 3 });
      assert.deepEqual(data.by_category, [{ category: 'c0', count: 3 }]);
      assert.deepEqual(data.by_category_rest, { groups: 2, count: 3 });
      const all = await service.list(`/v1/risks/summary?${query}top=200`, key);
      assert.deepEqual([all.by_owner.length, all.by_owner_rest], [3, { groups: 0, count: 0 }]);
    }
    for (const query of ['', 'severity=high&']) {
      const data = await service.list(`/v1/issues/summary?${query}top=2`, key);
      assert.deepEqual(
        data.by_assignee.map(({ assignee_name, count }: Group & { assignee_name: string }) => [
          assignee_name,
          count,
        ]),
        [
          ['Ada', 3],
          ['Grace', 2],
        ],
      );
      assert.deepEqual(data.by_assignee_rest, { groups: 1, count: 1 });
      assert.deepEqual([data.by_project.length, data.by_project_rest], [2, { groups: 1, count: 1 }]);
    }
    for (const top of ['0', '201', 'x'])
      assert.equal((await service.get(`/v1/risks/summary?top=${top}`, key)).status, 400);
    const { meta } = (await service.get('/v1/risks/summary?top=5', key)).body;
    assert.deepEqual(meta.filters, { archived: 'false', status: ['active'] });
  });

  test('are at most 64 kB long, whatever the names', async (t) => {
    const { service, key } = await withKey(start(t));
    const make = async (n: number) => {
      const name = longest(n);
      const project = await service.make('/v1/projects', key, { name, key: `P${n}` });
      const { user_id } = await service.make('/v1/personnel', key, { name });
      const risk = { title: 'x', owner_user_id: user_id, category: name, kind: 'opportunity' };
      await service.make(`/v1/projects/${project.key}/risks`, key, risk);
      const issue = { title: 'x', assignee_user_id: user_id };
      await service.make(`/v1/projects/${project.key}/issues`, key, issue);
    };
    for (let n = 0; n < groups; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => make(n + i)));
    const quoted = Array.from({ length: 15 }, (_, n) => longest(2 * n + 1));
    const longFilter = new URLSearchParams(quoted.map((name) => ['category', name]));
    for (const path of [
      '/v1/risks/summary?top=200',
      '/v1/risks/summary?top=200&kind=opportunity',
      `/v1/risks/summary?top=200&${longFilter}`,
      '/v1/issues/summary?top=200',
    ]) {
      const { status, text, body } = await service.get(path, key);
      assert.equal(status, 200, text.slice(0, 300));
      const bytes = Buffer.byteLength(text);
      assert.ok(bytes <= 64_000, `${bytes} bytes`);
      const arrays = Object.keys(body.data).filter((name) => `${name}_rest` in body.data);
      assert.equal(arrays.length, path.includes('risks') ? 3 : 2);
      for (const name of arrays) {
        const shown: Group[] = body.data[name];
        const rest: Rest = body.data[`${name}_rest`];
        assert.equal(
          shown.reduce((sum, { count }) => sum + count, rest.count),
          body.data.total,
          name,
        );
        if (!path.includes('category')) {
          assert.equal(shown.length + rest.groups, groups);
          assert.ok(shown.length >= 10 && rest.groups > 0, `${name}: ${shown.length} shown`);
        }
      }
    }
  });
});
