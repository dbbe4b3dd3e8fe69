import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';

onBothEngines('the order of items', (start) => {
  test('is by relevance for a search, with pages, in every list across projects', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    for (const project of ['PIPE', 'OTHER'])
      await service.make('/v1/projects', key, { key: project, name: project });
    const titles = {
      described: { title: 'Leak', description: 'In the pipe below' },
      inside: { title: 'A windpipe is blocked' },
      word: { title: 'Große Straße: Pipe' },
      start: { title: 'Pîpe of the cooling' },
    };
    for (const [list, rank] of [
      ['risks', { probability: 5, impact: 5 }],
      ['issues', { severity: 'critical' }],
      ['tasks', { due_on: '2020-01-01' }],
    ] as const) {
      for (const [i, item] of Object.values(titles).entries()) {
        // The worse the match, the higher the item is in the default order.
        await service.make(`/v1/projects/OTHER/${list}`, key, { ...item, ...(i < 3 && rank) });
      }
      await service.make(`/v1/projects/PIPE/${list}`, key, { title: 'Found by its key' });
      const found = async (query: string) => {
        const { status, body } = await service.get(`/v1/${list}?${query}`, key);
        assert.equal(status, 200, JSON.stringify(body));
        return { titles: body.data.map(({ title }: { title: string }) => title), page: body.page };
      };
      const expected = [
        'Found by its key',
        titles.start.title,
        titles.word.title,
        titles.inside.title,
        titles.described.title,
      ];
      assert.notDeepEqual((await found('q=PIPE')).titles, expected);
      assert.deepEqual((await found('q=PIPE&sort=relevance')).titles, expected);
      const first = await found('q=pipe&sort=relevance&limit=2');
      const rest = await found(`q=pipe&sort=relevance&limit=3&cursor=${first.page.next_cursor}`);
      assert.deepEqual([...first.titles, ...rest.titles], expected);
      // The keys of the last of them start with the key of the first, and they are higher in the default order.
      for (let number = 2; number <= 11; number++)
        await service.make(`/v1/projects/PIPE/${list}`, key, { title: `Number ${number}`, ...rank });
      const firstKey = `PIPE-${list.charAt(0)}1`;
      assert.equal((await found(`q=${firstKey}&sort=relevance`)).titles[0], 'Found by its key');
      const without = await service.get(`/v1/${list}?sort=relevance`, key);
      assert.equal(without.status, 400);
      assert.match(without.body.errors[0].detail, /needs `q`/);
    }
  });
});
