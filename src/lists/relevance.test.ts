import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../test/service.ts';

onBothEngines('the relevance of names', (start) => {
  test('puts names that start with the text first, with pages, in lists of groups and projects', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage', 'projects.manage');
    const names = ['Opérations', 'Night operations', 'Cooperation'];
    for (const name of names) await service.make('/v1/groups', key, { name });
    for (const [i, name] of names.entries())
      await service.make('/v1/projects', key, { key: `NAMED${i}`, name });
    await service.make('/v1/projects', key, { key: 'OPERA', name: 'Zeppelin' });
    for (const [list, expected] of [
      ['groups', names],
      ['projects', ['Zeppelin', ...names]],
    ] as const) {
      const found = async (query: string) => {
        const { status, body } = await service.get(`/v1/${list}?${query}`, key);
        assert.equal(status, 200, JSON.stringify(body));
        return { names: body.data.map(({ name }: { name: string }) => name), page: body.page };
      };
      assert.deepEqual((await found('q=oper')).names, [...expected].sort());
      assert.deepEqual((await found('q=OPER&sort=relevance')).names, expected);
      const first = await found('q=oper&sort=relevance&limit=2');
      const rest = await found(`q=oper&sort=relevance&limit=2&cursor=${first.page.next_cursor}`);
      assert.deepEqual([...first.names, ...rest.names], expected);
      assert.equal((await service.get(`/v1/${list}?sort=relevance`, key)).status, 400);
    }
  });
});
