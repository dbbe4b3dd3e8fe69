import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CompiledQuery, sql } from 'kysely';
import { fillDataset } from '../../bench/dataset.ts';
import { fillPeople } from '../../test/people.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';
import { systemClock } from '../core/clock.ts';
import { readXlsx } from '../formats/xlsx.ts';
import { xlsxType } from '../formats/xlsx-write.ts';
import { personnelList } from '../resources/personnel/queries.ts';
import type { Person } from '../resources/personnel/schema.ts';
import { openDatabase } from '../store/open.ts';
import { insertRows } from '../store/writes/rows.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { listLines } from './list.ts';

onBothEngines('lists', (start, engine) => {
  test('are counted where they do not block other requests', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    const { mock } = t.mock.method(service.database, 'snapshot');
    assert.equal((await service.get('/v1/personnel?limit=1&count=true', key)).body.page.total, 0);
    assert.deepEqual(
      mock.calls.map((call) => call.arguments),
      [['slow']],
    );
  });

  test('the rows of a whole list are read in the order of an index', async (t) => {
    const { database, url } = await start(t);
    await fillPeople(database, 5000);
    await database.write((db) => sql`analyze people`.execute(db));
    const statements: CompiledQuery[] = [];
    const logged = openDatabase(url, undefined, {}, ({ query }) => statements.push(query));
    t.after(() => logged.close());
    /** The plan of the statement that finds the first rows. */
    const explain = async (sort: string, after?: string) => {
      const snapshot = await logged.snapshot('stream');
      statements.length = 0;
      const list = personnelList({}, systemClock(), sort);
      for await (const { lines } of listLines(snapshot.db, list, after, 200)) {
        assert.ok(lines.split('\n').length <= 200);
        break;
      }
      await snapshot.end();
      const { sql: text, parameters } = statements.find(({ sql }) => sql.includes('people')) ?? assert.fail();
      const plan = await database.write(async (db) => {
        // As if the table were so large that sorting all of it takes less time than following the index.
        if (engine === 'postgres') await sql`set local random_page_cost = 32`.execute(db);
        const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
        return db.executeQuery(CompiledQuery.raw(`${explain} ${text}`, [...parameters]));
      });
      return JSON.stringify(plan.rows);
    };
    // Otherwise the first row would have to wait until all of them are built and sorted.
    for (const [sort, index] of [
      ['name', /people_roster_key/],
      ['created_at', /people_created_at_key/],
      ['updated_at', /people_updated_at_key/],
    ] as const) {
      assert.match(await explain(sort), index);
      assert.match(await explain(`-${sort}`), index);
      assert.match(await explain(sort, '2'), index);
    }
  });

  test('have the same rows as their pages, with what is grouped for many rows at once', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    await fillPeople(service.database, 430, { title: 'Engineer' });
    const people: Person[] = await service.list('/v1/personnel?limit=200', key);
    const groups: { id: string }[] = [];
    for (const name of ['Zebras', 'Ants']) groups.push(await service.make('/v1/groups', key, { name }));
    const members = people.flatMap(({ user_id }, i) =>
      groups
        .slice(0, i % 3)
        .map(({ id }) => ({ group_id: id, user_id, added_at: '2026-11-01T09:00:00.000Z' })),
    );
    await service.database.write((db) => insertRows(db, 'memberships', members));
    for (const sort of ['name', '-name', '-created_at', 'title', '-title']) {
      const paged = [];
      for (let next = `?limit=100&sort=${sort}`; next; ) {
        const { data, page } = (await service.get(`/v1/personnel${next}`, key)).body;
        paged.push(...data);
        next = page.next_cursor && `?limit=100&sort=${sort}&cursor=${page.next_cursor}`;
      }
      assert.equal(paged.length, 430);
      const whole = await service.get(`/v1/personnel?sort=${sort}`, key);
      assert.deepEqual(whole.body.data, paged, sort);
    }
    const { body } = await service.get('/v1/personnel?q=Person%201', key);
    const { data: matching } = (await service.get('/v1/personnel?q=Person%201&limit=200', key)).body;
    assert.deepEqual(body.data, matching);
    const byGroups = new Set(body.data.map((one: Person) => one.groups.map(({ name }) => name).join()));
    assert.deepEqual(byGroups, new Set(['', 'Zebras', 'Ants,Zebras']));
  });

  test('rejects an invalid cursor and a cursor of another query', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    await fillPeople(service.database, 3);
    const { body } = await service.get('/v1/personnel?limit=1', key);
    const cursor = body.page.next_cursor;
    const code = async (query: string) => (await service.get(`/v1/personnel?${query}`, key)).body.code;
    assert.equal(await code(`limit=2&cursor=${cursor}`), undefined);
    for (const other of ['status=active', 'sort=-name', 'sort=updated_at', 'sort=title'])
      assert.equal(await code(`limit=1&cursor=${cursor}&${other}`), 'cursor_mismatch', other);
    assert.equal(await code('limit=1&cursor=x'), 'invalid_parameter');
    assert.equal(await code(`limit=1&cursor=${btoa('["a","b"]')}`), 'invalid_parameter');
    assert.equal(
      (await service.get(`/v1/groups?limit=1&cursor=${cursor}`, key)).body.code,
      'cursor_mismatch',
    );

    const rest = await service.get(`/v1/personnel?cursor=${cursor}`, key);
    assert.deepEqual([rest.body.data.length, rest.body.page.total], [2, null]);
  });

  test('a cursor works with the filters in any order, and with names of any length', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    // ﷺ folds to 18 characters.
    for (const end of ['한a', '한b', '﷽', '\ufdfa'])
      await service.make('/v1/personnel', key, { name: end[0]?.repeat(199) + end.slice(-1) });
    const { body } = await service.get('/v1/personnel?limit=1&status=active&kind=human', key);
    const cursor = body.page.next_cursor;
    const next = await service.get(`/v1/personnel?kind=human&cursor=${cursor}&status=active&limit=1`, key);
    assert.deepEqual([next.status, next.body.data.length], [200, 1]);
    for (const sort of ['name', '-name']) {
      const names: string[] = [];
      let path = `/v1/personnel?limit=1&sort=${sort}`;
      for (; path; ) {
        const page = await service.get(path, key);
        assert.equal(page.status, 200, page.text);
        names.push(page.body.data[0].name);
        path = page.headers.get('link')?.match(/<https?:\/\/[^/]*([^>]*)/)?.[1] ?? '';
      }
      assert.deepEqual(names, pluck(await service.list(`/v1/personnel?sort=${sort}`, key), 'name'));
    }
    const linked = await service.get('/v1/personnel?limit=1&q=한?', key);
    assert.equal(linked.status, 200);
  });

  test('links to the next page', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    await fillPeople(service.database, 3);
    const first = await service.get('/v1/personnel?limit=2&status=active', key);
    const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    assert.ok(next.startsWith(service.origin));
    const second = await service.get(next.slice(service.origin.length), key);
    assert.deepEqual([second.body.data.length, second.headers.get('link')], [1, null]);
  });

  test('returns 304 for a known ETag, and a new ETag after every change', async (t) => {
    const { service, key } = await withKey(start(t));
    const paths = [
      '/v1/personnel',
      '/v1/personnel?limit=1',
      '/v1/groups',
      '/v1/risks',
      '/v1/issues',
      '/v1/projects',
    ];
    const tagOf = async (path: string) => (await service.get(path, key)).headers.get('etag') ?? '';
    const isNotModified = async (path: string, tag: string) =>
      (await service.get(path, key, { 'if-none-match': tag })).status === 304;

    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const path of paths) {
      const tag = await tagOf(path);
      assert.ok(await isNotModified(path, tag), path);
      assert.ok(await isNotModified(path, `"other", W/${tag}`), path);
      assert.ok(await isNotModified(path, '*'), path);
      assert.ok(!(await isNotModified(path, '"other"')), path);
    }
    const before = await Promise.all(paths.map(tagOf));
    await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.make('/v1/groups', key, { name: 'Ops' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
    for (const [i, path] of paths.entries()) assert.ok(!(await isNotModified(path, before[i] ?? '')), path);
  });

  test('serves CSV and NDJSON, and rejects other formats with 406', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const ada = await service.make('/v1/personnel', key, {
      name: '=cmd("x")',
      title: 'a, "b"',
      skills: ['x', 'y'],
      attributes: { k: 'v' },
    });
    const ndjson = await service.get('/v1/personnel', key, { accept: 'application/x-ndjson' });
    assert.deepEqual(
      ndjson.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [ada],
    );

    const csv = await service.get('/v1/personnel', key, { accept: 'text/csv, application/json;q=0.5' });
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.ok(csv.text.startsWith('user_id,name,email,'));
    assert.ok(csv.text.includes(`${ada.user_id},"'=cmd(""x"")",,"a, ""b""",`));
    assert.ok(csv.text.includes(',x; y,'));
    assert.equal(csv.headers.get('vary'), 'authorization, cookie, accept, accept-encoding');

    const xml = await service.get('/v1/personnel', key, { accept: 'application/xml' });
    assert.equal(xml.status, 406);
    assert.deepEqual(xml.body.available, ['application/json', 'application/x-ndjson', 'text/csv', xlsxType]);
  });

  test('serves a workbook, and the format in the query', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    await service.make('/v1/personnel', key, { name: '=cmd("x")', skills: ['x', 'y'] });
    await fillPeople(service.database, 3000);
    const sheetOf = async (path: string, headers?: Record<string, string>) => {
      const response = await fetch(service.origin + path, {
        headers: { authorization: `Bearer ${key}`, ...headers },
      });
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, xlsxType]);
      const rows = await Array.fromAsync(readXlsx(new Uint8Array(await response.arrayBuffer())));
      return { rows: rows.flat().slice(1), headers: response.headers };
    };
    const whole = await sheetOf('/v1/personnel', { accept: xlsxType });
    assert.deepEqual([whole.rows.length, whole.headers.get('content-disposition')], [3001, null]);
    const page = await sheetOf('/v1/personnel?format=xlsx&limit=2');
    assert.deepEqual(page.rows[0]?.cells.slice(1, 2), ['=cmd("x")']);
    assert.equal(page.headers.get('content-disposition'), 'attachment; filename="personnel.xlsx"');
    assert.match(page.headers.get('link') ?? '', /format=xlsx/);

    for (const [format, start] of [
      ['json', '{"data":['],
      ['ndjson', '{"user_id":'],
      ['csv', 'user_id,name'],
    ]) {
      const response = await service.get(`/v1/personnel?format=${format}&limit=1`, key, {
        accept: 'image/png',
      });
      assert.ok(response.text.startsWith(String(start)), response.text);
    }
    assert.equal((await service.get('/v1/personnel?format=pdf', key)).body.code, 'invalid_parameter');
    const json = await service.get('/v1/personnel?format=json&limit=1', key);
    assert.deepEqual(json.body.meta.filters, {});
  });

  test('serves chosen columns under other names, and values in words', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    await service.make('/v1/personnel', key, { name: 'Ada', kind: 'placeholder', skills: ['x', 'y'] });
    const path = '/v1/personnel?format=csv&columns=kind=Kind of person,name,assignable==Free,skills';
    const plain = await service.get(path, key);
    assert.equal(plain.text, "Kind of person,name,'=Free,skills\r\nplaceholder,Ada,true,x; y\r\n");
    const words = await service.get(`${path}&words=true`, key, {
      'if-none-match': plain.headers.get('etag') ?? '',
    });
    assert.equal(words.text, "Kind of person,name,'=Free,skills\r\nPlaceholder,Ada,Yes,x; y\r\n");
    assert.deepEqual((await service.get('/v1/personnel?limit=1', key)).body.meta.filters, {});
    const response = await fetch(
      `${service.origin}/v1/personnel?format=xlsx&columns=name=Person,created_at&words=true`,
      {
        headers: { authorization: `Bearer ${key}` },
      },
    );
    const rows = (await Array.fromAsync(readXlsx(new Uint8Array(await response.arrayBuffer())))).flat();
    assert.deepEqual(rows[0]?.names, ['Person', 'created_at']);
    for (const [query, parameter] of [
      ['columns=name', 'columns'],
      ['format=ndjson&words=true', 'words'],
      ['format=csv&columns=nmae', 'columns'],
    ] as const) {
      const { status, body } = await service.get(`/v1/personnel?${query}`, key);
      assert.deepEqual([status, body.errors[0].parameter], [400, parameter], query);
    }
  });

  test('is one snapshot, however long it takes to read', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    await fillPeople(service.database, 20_000);
    const response = await fetch(`${service.origin}/v1/personnel`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const reader = response.body?.getReader();
    const chunks = [await reader?.read()];
    await service.make('/v1/personnel', key, { name: 'zzz the last' });
    await service.make('/v1/personnel', key, { name: 'aaa the first' });
    const page = await service.get('/v1/personnel?limit=1', key);
    assert.equal(page.body.data[0].name, 'aaa the first');
    for (let chunk = await reader?.read(); !chunk?.done; chunk = await reader?.read()) chunks.push(chunk);
    const text = Buffer.concat(chunks.map((chunk) => chunk?.value ?? new Uint8Array())).toString();
    const { data, page: whole } = JSON.parse(text);
    assert.equal(data.length, 20_000);
    assert.equal(whole.total, 20_000);
  });

  test('a client that disconnects releases its database connection', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.read');
    await fillPeople(service.database, 20_000);
    // More requests than connections for streams.
    for (let i = 0; i < 20; i++) {
      const abort = new AbortController();
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${service.origin}/v1/personnel`, { headers, signal: abort.signal });
      await response.body?.getReader().read();
      abort.abort();
    }
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, 20_000);
  });
});

test('a cursor decodes to its original value', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.string(), fc.json(), (after, position, version, query) => {
      const plain = after.replace(/[^ -~]/g, '');
      const cursor = { after: plain, position, version };
      assert.deepEqual(decodeCursor(query, encodeCursor(query, cursor), byKey), cursor);
      assert.throws(() => decodeCursor(`${query}x`, encodeCursor(query, cursor), byKey), /another query/);
    }),
  );
});

test('an invalid cursor always causes a problem response', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.base64String(), fc.json().map(btoa8)),
      fc.boolean(),
      (text, hasTie) => {
        try {
          decodeCursor('query', text, hasTie ? { ...byKey, tie: byKey.key } : byKey);
        } catch (error) {
          assert.equal((error as Error).name, 'Problem');
        }
      },
    ),
  );
});

const byKey = { key: sql.ref<string>('key') };

const btoa8 = (text: string) => Buffer.from(text).toString('base64url');

/** Pages of more than 100 rows are read in slices. */
onBothEngines('a page that is read in slices', (start) => {
  test('has the same rows as shorter pages, in each order and format', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.database.write((db) =>
      fillDataset(db, { people: 700, projects: 3, risks: 700, issues: 10 }),
    );
    const since = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    for (const path of [
      '/v1/personnel?sort=-name',
      '/v1/personnel?q=a',
      '/v1/risks?count=true',
      '/v1/risks?sort=title',
      `/v1/risks?include=movement&since=${since}`,
    ]) {
      const short = await readPages(service, path, key, 75);
      const long = await readPages(service, path, key, 300);
      assert.ok(short.rows.length >= 600, `${path}: ${short.rows.length} rows`);
      assert.deepEqual(long, short, path);
    }
    for (const format of ['ndjson', 'csv']) {
      const whole = await service.get(`/v1/risks?format=${format}`, key);
      assert.equal((await service.get(`/v1/risks?limit=1000&format=${format}`, key)).text, whole.text);
    }
  });

  test('has an ETag of its content and a link to the next page', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.database.write((db) => fillDataset(db, { people: 700, projects: 1, risks: 1, issues: 1 }));
    const page = await service.get('/v1/personnel?limit=300', key);
    assert.match(page.headers.get('link') ?? '', /limit=300&cursor=.*; rel="next"/);
    const etag = page.headers.get('etag') ?? '';
    const again = await service.get('/v1/personnel?limit=300', key, { 'if-none-match': etag });
    assert.equal(again.status, 304);
  });
});

async function readPages(service: TestService, path: string, key: string, limit: number) {
  const rows: unknown[] = [];
  let total: number | null = null;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await service.get(`${path}&limit=${limit}${cursor && `&cursor=${cursor}`}`, key);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    rows.push(...body.data);
    total = body.page.total;
    cursor = body.page.next_cursor;
  }
  return { rows, total };
}
