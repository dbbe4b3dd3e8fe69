import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { onBothEngines, pluck, type Start, type TestService, withKey } from '../../../test/service.ts';
import { checkCommand } from '../../commands/check.ts';
import { maxCategories } from './schema.ts';

onBothEngines('categories', (start) => {
  test('are listed in their order with what they are used for, then those that are not in the list', async (t) => {
    const { service, key, risk } = await startWithRisks(t, start);
    await service.make('/v1/categories', key, { name: 'Supply', description: 'Suppliers and transport.' });
    await service.make('/v1/categories', key, { name: 'Legal' });
    await service.make('/v1/categories', key, { name: 'Finance', position: 1 });
    await risk({ category: 'Supply' });
    await risk({ category: 'Supply' }, 'OLD');
    const closed = await risk({ category: 'Supply' });
    await service.patch(`/v1/projects/APOLLO/risks/${closed.key}`, key, {
      status: 'closed',
      closure_reason: 'Done.',
    });
    await risk({ category: 'Weather' });
    await risk({});
    await service.post('/v1/projects/OLD/archive', key, {});
    const fields = ['name', 'position', 'listed', 'active_risks', 'risks'];
    const all = [
      ['Finance', 1, true, 0, 0],
      ['Supply', 2, true, 1, 3],
      ['Legal', 3, true, 0, 0],
      ['Weather', null, false, 1, 1],
    ];
    const list = async (query = '', reader = key) =>
      pluck(await service.list(`/v1/categories${query}`, reader), ...fields);
    assert.deepEqual(await list(), all);
    assert.deepEqual(await list('?listed=true'), all.slice(0, 3));
    assert.deepEqual(await list('?listed=false'), all.slice(3));
    assert.deepEqual(await list('?limit=2'), all.slice(0, 2));
    const { body } = await service.get('/v1/categories?limit=3', key);
    assert.deepEqual(await list(`?limit=3&cursor=${body.page.next_cursor}`), all.slice(3));
    // The numbers are those of the lists behind them.
    assert.equal((await service.list('/v1/risks?category=Supply', key)).length, 1);
    assert.equal((await service.list('/v1/risks?category=Supply&status=all&archived=any', key)).length, 3);
    const limited = await service.limitedKey(['OLD']);
    assert.deepEqual(await list('', limited), [
      ['Finance', 1, true, 0, 0],
      ['Supply', 2, true, 0, 1],
      ['Legal', 3, true, 0, 0],
    ]);
    const write = await service.post('/v1/categories', limited, { name: 'Mine' });
    assert.deepEqual([write.status, write.body.code], [403, 'key_limited']);
    const reader = await service.key('projects.read');
    assert.equal((await service.post('/v1/categories', reader, { name: 'Mine' })).status, 403);
  });

  test('have unique names, whatever the case and accents, and places without gaps', async (t) => {
    const { service, key } = await withKey(start(t));
    const names = ['A', 'B', 'C', 'D'];
    const made: { id: string }[] = [];
    for (const name of names) made.push(await service.make('/v1/categories', key, { name }));
    const taken = await service.post('/v1/categories', key, { name: 'á' });
    assert.deepEqual([taken.status, taken.body.existing_id], [409, made[0]?.id]);
    const at = (index: number) => `/v1/categories/${made[index]?.id}`;
    assert.equal((await service.patch(at(1), key, { name: 'a' })).status, 409);
    assert.equal((await service.patch(at(0), key, { name: 'a' })).status, 200);
    const order = async () => pluck(await service.list('/v1/categories', key), 'name', 'position', 'version');
    const moved = await service.patch(at(3), key, { position: 2 });
    assert.deepEqual([moved.status, moved.body.position], [200, 2]);
    assert.deepEqual(await order(), [
      ['a', 1, 2],
      ['D', 2, 2],
      ['B', 3, 1],
      ['C', 4, 1],
    ]);
    await service.patch(at(0), key, { position: 400 });
    await service.delete(at(1), key);
    assert.deepEqual(await order(), [
      ['D', 1, 2],
      ['C', 2, 1],
      ['a', 3, 3],
    ]);
    assert.equal((await service.patch(at(0), key, { position: maxCategories + 1 })).status, 422);
    const history = await service.list(`${at(3)}/history`, key);
    assert.deepEqual(pluck(history, 'field'), ['created']);
    const both = await Promise.all(
      [1, 2].map(() => service.post('/v1/categories', key, { name: 'At once' })),
    );
    assert.deepEqual(pluck(both, 'status').sort(), [201, 409]);
  });

  test('a new name changes every risk, with its history, past version and event', async (t) => {
    const { service, key, risk } = await startWithRisks(t, start);
    const { id } = await service.make('/v1/categories', key, { name: 'Supply' });
    const first = await risk({ category: 'Supply' });
    const archived = await risk({ category: 'Supply' }, 'OLD');
    const other = await risk({ category: 'Legal' });
    await service.post('/v1/projects/OLD/archive', key, {});
    const { body: page } = await service.get('/v1/events', key);
    const renamed = await service.patch(`/v1/categories/${id}`, key, {
      name: 'Supply chain',
      reason: 'As in the handbook.',
    });
    assert.deepEqual([renamed.status, renamed.body.name, renamed.body.version], [200, 'Supply chain', 2]);
    const read = async ({ key: ref }: { key: string }) => (await service.get(`/v1/risks/${ref}`, key)).body;
    for (const one of [first, archived]) {
      const { category, version } = await read(one);
      assert.deepEqual([category, version], ['Supply chain', 2]);
    }
    assert.deepEqual((await read(other)).version, 1);
    const events = await service.list(`/v1/events?after=${page.meta.next_after}`, key);
    assert.deepEqual(
      pluck(events, 'type', 'data.name', 'data.category', 'previous').toSorted(),
      [
        ['category.updated', 'Supply chain', undefined, { name: 'Supply' }],
        ['risk.updated', undefined, 'Supply chain', { category: 'Supply' }],
        ['risk.updated', undefined, 'Supply chain', { category: 'Supply' }],
      ].toSorted(),
    );
    const history = await service.list(`/v1/projects/APOLLO/risks/${first.id}/history`, key);
    assert.deepEqual(pluck(history, 'field', 'from', 'to', 'reason').at(-1), [
      'category',
      'Supply',
      'Supply chain',
      'As in the handbook.',
    ]);
    assert.equal((await service.list('/v1/risks?category=Supply chain', key)).length, 1);
    const { body: summary } = await service.get('/v1/risks/summary', key);
    assert.deepEqual(pluck(summary.data.by_category, 'category', 'count').toSorted(), [
      ['Legal', 1],
      ['Supply chain', 1],
    ]);
    await assertConsistent(service);
  });

  test('a new name changes many risks in parts, which others can wait for', async (t) => {
    const { service, key } = await startWithRisks(t, start);
    const { id } = await service.make('/v1/categories', key, { name: 'Supply' });
    const rows = Array.from({ length: 600 }, (_, i) => `Risk ${i},Supply\n`);
    const path = '/v1/projects/APOLLO/risks/import';
    await service.upload(path, key, `title,category\n${rows.join('')}`);
    const { body: page } = await service.get('/v1/events', key);
    let longest = 0;
    const countRows: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        longest = Math.max(longest, result.rows.length);
        return result;
      },
    };
    const { write } = service.database;
    t.mock.method(service.database, 'write', (work: Parameters<typeof write>[0], workload: 'long') =>
      write((db, hasWaiters) => work(db.withPlugin(countRows), hasWaiters), workload),
    );
    assert.equal((await service.patch(`/v1/categories/${id}`, key, { name: 'Logistics' })).status, 200);
    assert.equal(longest, 500);
    const risks = await service.list('/v1/risks?category=Logistics', key);
    assert.deepEqual(new Set(pluck(risks, 'version')), new Set([2]));
    assert.equal(risks.length, 600);
    const events = await service.list(`/v1/events?after=${page.meta.next_after}&types=risk.updated`, key);
    assert.equal(new Set(pluck(events, 'subject.id')).size, 600);
    await assertConsistent(service);
  });

  test('a merged category leaves the list, and its risks get the other one', async (t) => {
    const { service, key, risk } = await startWithRisks(t, start);
    const [supply, parts] = [
      await service.make('/v1/categories', key, { name: 'Supply' }),
      await service.make('/v1/categories', key, { name: 'Parts' }),
    ];
    await risk({ category: 'Parts' });
    await risk({ category: 'Parts' });
    await risk({ category: 'Supply' });
    const at = `/v1/categories/${parts.id}`;
    for (const into of [parts.id, 'cat_00000000000000000000000000']) {
      const { status, body } = await service.post(`${at}/merge`, key, { into });
      assert.deepEqual([status, body.errors[0].pointer], [422, '#/into']);
    }
    const stale = await service.call('POST', `${at}/merge`, key, { into: supply.id }, { 'if-match': '"9"' });
    assert.equal(stale.status, 412);
    const headers = { 'idempotency-key': 'merge' };
    for (let i = 0; i < 2; i++) {
      const { status, body } = await service.call('POST', `${at}/merge`, key, { into: supply.id }, headers);
      assert.deepEqual([status, body.changed_risks, body.category.name], [200, 2, 'Supply']);
    }
    const list = await service.list('/v1/categories', key);
    assert.deepEqual(pluck(list, 'name', 'active_risks'), [['Supply', 3]]);
    assert.equal((await service.get(at, key)).status, 404);
    const events = await service.list('/v1/events?types=category.merged', key);
    assert.deepEqual(pluck(events, 'subject.id', 'data.name', 'also'), [
      [parts.id, 'Parts', ['category.deleted']],
    ]);
    const history = await service.list(`/v1/categories/${supply.id}/history`, key);
    assert.deepEqual(pluck(history, 'field', 'from').at(-1), ['merged', 'Parts']);
    await assertConsistent(service);
  });

  test('risks get the spelling of the list, also those that were there before', async (t) => {
    const { service, key, risk } = await startWithRisks(t, start);
    const before = await risk({ category: 'süpply' });
    await service.make('/v1/categories', key, { name: 'Supply' });
    const at = '/v1/projects/APOLLO/risks';
    assert.equal((await service.get(`${at}/${before.id}`, key)).body.category, 'Supply');
    const created = await risk({ category: 'SUPPLY' });
    assert.equal(created.category, 'Supply');
    const same = await service.patch(`${at}/${created.id}`, key, { category: 'supply' });
    assert.deepEqual([same.body.category, same.body.version], ['Supply', 1]);
    const free = await service.patch(`${at}/${created.id}`, key, { category: 'Weather' });
    assert.equal(free.body.category, 'Weather');
    const bulk = { items: [{ id: created.id }], changes: { category: 'sUPPLY' } };
    assert.equal((await service.post('/v1/bulk/risks', key, bulk)).status, 200);
    const { body } = await service.upload(`${at}/import`, key, 'title,category\nA,supply\nB,Fire\n');
    assert.equal(body.summary.created, 2, JSON.stringify(body));
    const risks = await service.list('/v1/risks', key);
    assert.deepEqual(pluck(risks, 'category').toSorted(), ['Fire', 'Supply', 'Supply', 'Supply']);
    await assertConsistent(service);
  });

  test('without free text, an unknown category is refused with those there are', async (t) => {
    const { service, key, risk } = await startWithRisks(t, start);
    const old = await risk({ category: 'Weather' });
    await service.patch('/v1/organization', key, { free_text_categories: false });
    const at = '/v1/projects/APOLLO/risks';
    const refused = await service.post(at, key, { title: 'X', category: 'Suply' });
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'unknown_category']);
    assert.match(refused.body.detail, /which is empty/);
    for (const name of ['Legal', 'Supply']) await service.make('/v1/categories', key, { name });
    const detail =
      '“Suply” is not in the list of categories. Did you mean Supply? The categories are Legal and Supply.';
    assert.equal((await service.post(at, key, { title: 'X', category: 'Suply' })).body.detail, detail);
    const patched = await service.patch(`${at}/${old.id}`, key, { category: 'Suply' });
    assert.deepEqual([patched.status, patched.body.errors[0].pointer], [422, '#/category']);
    // What a risk has stays, also in a form that sends every field.
    const kept = await service.patch(`${at}/${old.id}`, key, { category: 'Weather', title: 'Storm' });
    assert.deepEqual([kept.status, kept.body.title], [200, 'Storm']);
    const bulk = { items: [{ id: old.id }], changes: { category: 'Suply' } };
    assert.equal((await service.post('/v1/bulk/risks', key, bulk)).body.code, 'bulk_refused');
    const { body } = await service.upload(`${at}/import`, key, 'title,category\nA,supply\nB,Suply\n');
    assert.deepEqual([body.summary.created, body.summary.failed], [1, 1], JSON.stringify(body));
    assert.equal((await risk({ category: null })).category, null);
    assert.equal((await risk({ category: 'legal' })).category, 'Legal');
  });
});

/** A service with two projects, and a function that makes risks in them. */
async function startWithRisks(t: Parameters<Start>[0], start: Start) {
  const { service, key } = await withKey(start(t));
  await service.make('/v1/projects', key, { name: 'Apollo' });
  await service.make('/v1/projects', key, { name: 'Old', key: 'OLD' });
  const risk = (fields: object, project = 'APOLLO') =>
    service.make(`/v1/projects/${project}/risks`, key, { title: 'Risk', ...fields });
  return { service, key, risk };
}

async function assertConsistent({ database }: TestService): Promise<void> {
  assert.deepEqual((await checkCommand(database, () => {})).violations, []);
}
