import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, withKey } from '../../test/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

onBothEngines('an import', (start) => {
  const file = (rows: readonly number[]) =>
    `external_id,name\n${rows.map((i) => `${i},Person ${i}`).join('\n')}\n`;
  const many = Array.from({ length: 300 }, (_, i) => i);

  test('gives no number that a user has given and deleted meanwhile, but those that it has skipped', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const keyOf = (i: number) => `APOLLO-R${i === 0 ? 5000 : i === 299 ? 5001 : i === 298 ? 4000 : i}`;
    const taken: string[] = [];
    let transactions = 0;
    service.faults.onCommit = async () => {
      if (++transactions !== 1) return;
      const { key: made } = await service.make('/v1/projects/APOLLO/risks', key, { title: 'By a user' });
      taken.push(made);
      await service.delete(`/v1/projects/APOLLO/risks/${made}`, key);
    };
    const lines = many.map((i) => `${keyOf(i)},Risk ${i}`);
    const { body } = await service.upload(
      '/v1/projects/APOLLO/risks/import',
      key,
      `key,title\n${lines.join('\n')}\n`,
    );
    const keys = pluck(body.results, 'key');
    assert.deepEqual(taken, ['APOLLO-R5001']);
    assert.deepEqual([keys[0], keys[298], keys[299]], ['APOLLO-R5000', 'APOLLO-R4000', 'APOLLO-R5002']);
    assert.equal(new Set(keys).size, many.length);
  });

  for (const failure of ['unknown, saved', 'unknown, not saved'] as const)
    test(`says which rows are saved and which may be if the outcome of a commit is ${failure}`, async (t) => {
      const { service, key } = await withKey(start(t));
      const upload = (mode: string) => service.upload(`/v1/personnel/import?mode=${mode}`, key, file(many));
      for (const failing of [1, 2]) {
        Object.assign(service.faults, { failure, transactions: 0, isFailing: (n: number) => n === failing });
        const { status, body } = await upload(failing === 1 ? 'create' : 'upsert');
        Object.assign(service.faults, { failure: undefined });
        assert.deepEqual([status, body.code, body.may_be_saved], [503, 'unavailable', true]);
        const stored: Any[] = await service.list('/v1/personnel', key);
        const saved = body.created + body.unchanged || 0;
        assert.equal(stored.length > saved, failure === 'unknown, saved');
        assert.equal(body.rows, many.length);
        const unknown =
          failing === 1
            ? 'The first rows may have been saved'
            : 'Some rows after them may have been saved as well';
        assert.ok(
          body.detail.includes(`${unknown}: check those first. To continue, send the file again`),
          body.detail,
        );
      }
      // As the error advises.
      const { body } = await upload('upsert');
      assert.equal(body.summary.created + body.summary.unchanged, many.length);
      assert.equal((await service.list('/v1/personnel', key)).length, many.length);
    });

  test('of a sync that ends in the middle remembers whom it has brought', async (t) => {
    const { service, key } = await withKey(start(t));
    const path = '/v1/personnel/import?mode=sync&source=hr';
    // The first transaction reads whom the source has brought.
    Object.assign(service.faults, { failure: 'unknown, not saved', isFailing: (n: number) => n === 3 });
    const killed = await service.upload(path, key, file(many));
    assert.equal(killed.body.code, 'unavailable', killed.text);
    Object.assign(service.faults, { failure: undefined });
    assert.ok(killed.body.created > 0);
    const { body } = await service.upload(`${path}&max_leaving=100`, key, file([0, 999]));
    assert.equal(body.summary.leavers.length, killed.body.created - 1);
    const active: Any[] = await service.list('/v1/personnel?status=active', key);
    assert.deepEqual(pluck(active, 'name').sort(), ['Person 0', 'Person 999']);
  });

  test('of a sync rejects an Idempotency-Key, because it would run again', async (t) => {
    const { service, key } = await withKey(start(t));
    const send = (query: string) =>
      service.post(`/v1/personnel/import?mode=sync&source=hr${query}`, key, file([1]), {
        'content-type': 'text/csv',
        'idempotency-key': 'once',
      });
    const { status, body } = await send('');
    assert.deepEqual([status, body.code], [400, 'malformed_request']);
    assert.match(body.detail, /Remove the header: a sync is safe to send again\.$/);
    assert.deepEqual(await service.list('/v1/personnel', key), []);
    assert.equal((await send('&dry_run=true')).status, 200);
  });
});
