import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEveryResource } from '../../test/every-resource.ts';
import { onBothEngines, withKey } from '../../test/service.ts';
import { readOpenapiFile } from '../http/response/openapi-file.ts';
import { encodeCursor } from './cursor.ts';

type Operation = { parameters?: { $ref: string }[] };
type Parameter = { name: string; schema: { enum?: string[] } };
const { paths, components } = JSON.parse(readOpenapiFile()) as {
  paths: Record<string, { get?: Operation }>;
  components: { parameters: Record<string, Parameter> };
};
const lists = Object.entries(paths).flatMap(([path, { get }]) => {
  const parameters = (get?.parameters ?? []).map(
    ({ $ref }) => components.parameters[$ref.split('/').at(-1) ?? ''],
  );
  if (!parameters.some((parameter) => parameter?.name === 'cursor')) return [];
  const sorts = parameters.find((parameter) => parameter?.name === 'sort')?.schema.enum ?? [];
  return [{ path, sorts: [undefined, ...sorts] }];
});

const keys = [
  ...[
    '',
    '0',
    '1',
    '-1',
    '1e3',
    '0x10',
    ' 1',
    '٣',
    '99',
    'x',
    '\u{10ffff}',
    '\ud800',
    'a\0b',
    "'",
    '%',
    '🧑‍🚀',
  ],
  ...['2147483648', '4294967296', String(Number.MAX_SAFE_INTEGER), '9'.repeat(30), '2026-11-19', 'null'],
  ...['x'.repeat(5000), '[]', '{}', '["a"]', '[1,2]', '["a",null]', '["a","b","c"]', '[["a"],"b"]', '"a"'],
];
/** A few of them for each order but the default one. */
const fewKeys = [
  '',
  '1',
  'x',
  '\ud800',
  String(Number.MAX_SAFE_INTEGER),
  '["a","b"]',
  '[1,2]',
  '["a\\u0000","b"]',
];

onBothEngines('a forged cursor', (start) => {
  test('of any list gets a page or 400, never an error of the service', async (t) => {
    const environment = { MUSTER_WEBHOOK_ALLOW: '127.0.0.1' };
    const { service, key } = await withKey(start(t, { environment }));
    const resolve = await createEveryResource(service, key);
    const { user_id } = (await service.get('/v1/me', key)).body;
    const failures: string[] = [];
    for (const { path, sorts } of lists) {
      const url = resolve(path);
      assert.doesNotMatch(url, /[{]/, path);
      const whole = await service.get(url, key);
      // The person has no access.
      const isAbsent = path === '/v1/personnel/{user_id}/access/history';
      if (isAbsent || whole.body?.code === 'person_required') continue;
      assert.equal(whole.status, 200, `${path} ${whole.text}`);
      for (const sort of sorts) {
        const needed: Record<string, string> = {
          ...(sort && { sort }),
          ...(sort === 'relevance' && { q: 'a' }),
          ...(sort?.includes('change') && { since: '2026-11-01' }),
        };
        const ask = (cursor: string) => {
          const query = new URLSearchParams({ limit: '1', cursor });
          for (const [name, value] of Object.entries(needed)) query.set(name, value);
          return service.get(`${url}?${query}`, key);
        };
        const { meta } = (await service.get(`${url}?${new URLSearchParams(needed)}`, key)).body;
        const filters = Object.entries(meta.filters).sort(([a], [b]) => (a < b ? -1 : 1));
        const orders = sort === undefined ? [undefined, ...sorts.slice(1, 2)] : [sort];
        const candidates = orders.flatMap((order) =>
          [[], ['tie'], [user_id], [user_id, 'tie']].map((more) => [url, filters, order, ...more]),
        );
        const forge = (query: unknown, after: string, position = Number.MAX_SAFE_INTEGER) =>
          encodeCursor(query, { after, position, version: '1 2' });
        let accepted: unknown[] | undefined;
        for (const query of candidates)
          if (!accepted && (await ask(forge(query, '["1","1"]'))).body.code !== 'cursor_mismatch')
            accepted = query;
        if (!accepted) failures.push(`no cursor of ${path} ${sort} is accepted`);
        for (const key of sort === undefined ? keys : fewKeys) {
          for (const after of accepted?.at(-1) === 'tie' ? [key, JSON.stringify([key, key])] : [key]) {
            const { status, text } = await ask(forge(accepted, after));
            if (status !== 200 && status !== 400)
              failures.push(`${path} ${sort} ${after.slice(0, 50)} ${status} ${text.slice(0, 300)}`);
          }
        }
      }
    }
    assert.deepEqual(failures, []);
  });
});
