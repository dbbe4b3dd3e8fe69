import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines, onSqlite, pluck, withKey } from '../../test/service.ts';
import { sheetRows, workbookOf } from '../../test/workbook.ts';
import { readForm } from '../formats/multipart.ts';
import { xlsxType } from '../formats/xlsx-write.ts';

const boundary = 'x-123';
const type = `multipart/form-data; boundary=${boundary}`;

const form = (...parts: [headers: string, content: string | Buffer][]) =>
  Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content as string),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const filePart = (name: string, mediaType = '') =>
  `Content-Disposition: form-data; name="file"; filename="${name}"${mediaType && `\r\nContent-Type: ${mediaType}`}`;

/** Resolves when a handler of a request starts or ends. */
const handled = (event: 'start' | 'asyncEnd') =>
  new Promise<void>((resolve) => {
    const name = `tracing:fastify.request.handler:${event}`;
    const listener = () => {
      unsubscribe(name, listener);
      resolve();
    };
    subscribe(name, listener);
  });

// Reading a request does not depend on the engine.
onSqlite('an upload', (start) => {
  test('can be a form with one file, in any encoding', async (t) => {
    const { service, key } = await withKey(start(t));
    const send = (body: Buffer, query = '') =>
      service.upload(`/v1/personnel/import?${query}`, key, body, type);
    const csv = await send(form([filePart('a.csv', 'application/vnd.ms-excel'), 'name\r\nAda\r\n']));
    assert.deepEqual([csv.status, csv.body.summary.created], [200, 1], csv.text);
    const protectedText = await workbookOf([
      { name: 'A', rows: sheetRows(['name', 'title'], ['Bob', "'=1+1"]) },
    ]);
    const xlsx = await send(form([filePart('b.xlsx'), protectedText]));
    assert.equal(xlsx.body.summary.created, 1, xlsx.text);
    // A workbook whose name says otherwise.
    const renamed = await send(form([filePart('b.csv', 'text/csv'), protectedText]), 'dry_run=true');
    assert.equal(renamed.body.summary?.sheet, 'A', renamed.text);
    const latin = Buffer.from('name,title\nZoë,Chéf\n', 'latin1');
    const western = await send(form([filePart('c.csv', 'text/csv'), latin]));
    assert.deepEqual([western.body.summary.charset, western.body.summary.created], ['windows-1252', 1]);
    assert.match(western.body.summary.explanation, /^The file was read as windows-1252\./);
    const wide = await send(form([filePart('c.csv'), Buffer.from('name,title\nŽofie,Dr.\n', 'utf16le')]));
    assert.deepEqual([wide.body.summary?.charset, wide.body.summary?.created], ['utf-16le', 1], wide.text);
    const named = await send(
      form([filePart('d.csv'), Buffer.from([...Buffer.from('name\n'), 0xa3, 0x0a])]),
      'charset=iso-8859-2',
    );
    assert.equal(named.body.summary.charset, 'iso-8859-2');
    // A browser that sends the file with fetch and FormData.
    const data = new FormData();
    data.append('file', new Blob(['{"name":"Grace"}\n']), 'e.ndjson');
    const response = await fetch(`${service.origin}/v1/personnel/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: data,
    });
    assert.equal(response.status, 200, await response.text());
    const people = await service.list('/v1/personnel', key);
    assert.deepEqual(
      pluck(
        people.filter(({ name }: { name: string }) => name === 'Bob'),
        'title',
      ),
      ['=1+1'],
    );
    assert.deepEqual(pluck(people, 'name').sort(), ['Ada', 'Bob', 'Grace', 'Zoë', 'Ł', 'Žofie'].sort());
    for (const [body, why] of [
      [form(['Content-Disposition: form-data; name="mode"', 'upsert']), /“mode” is no file.*query/],
      [form([filePart('a.csv'), 'name\nx\n'], [filePart('b.csv'), 'name\ny\n']), /several files/],
      [form(), /no file/],
      [Buffer.from('name\nAda\n'), /boundary does not occur/],
      [form([filePart('a.csv'), 'name\nx\n']).subarray(0, -10), /has no end/],
    ] as const) {
      const refused = await send(body);
      assert.deepEqual([refused.status, refused.body.code], [400, 'malformed_request'], refused.text);
      assert.match(refused.body.detail, why);
    }
    const encodedName = await send(
      form([
        "Content-Disposition: form-data; name=file; filename*=utf-8''%C3%9Cbersicht.ndjson",
        '{"name":"Zoe"}\n',
      ]),
      'dry_run=true',
    );
    assert.equal(encodedName.body.summary?.created, 1, encodedName.text);
    // curl sends a form without a length if it reads the file from a pipe.
    const large = request(`${service.origin}/v1/personnel/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': type, 'transfer-encoding': 'chunked' },
    });
    large.on('error', () => {});
    for (let i = 0; i < 33; i++) large.write(Buffer.alloc(1024 * 1024, 'x'));
    const [{ statusCode }] = await once(large, 'response');
    assert.equal(statusCode, 413);
    large.destroy();
    const elsewhere = await service.upload('/v1/personnel', key, form(), type);
    assert.equal(elsewhere.status, 415);
  });

  test('is not imported if its client has gone before it was read', async (t) => {
    const { service, key } = await withKey(start(t));
    const rows = `${sheetRows(['name'], ['Ada'])}${'<row></row>'.repeat(700_000)}`;
    const file = await workbookOf([{ name: 'A', rows }]);
    for (const gone of [true, false]) {
      const sent = request(`${service.origin}/v1/personnel/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': xlsxType },
      });
      sent.on('error', () => {});
      const ended = handled('asyncEnd');
      const started = handled('start');
      sent.end(file);
      await started;
      if (gone) sent.destroy();
      await ended;
      const { body } = await service.get('/v1/personnel', key);
      assert.deepEqual(pluck(body.data, 'name'), gone ? [] : ['Ada']);
    }
  });

  test('is downloaded for Excel with a byte order mark', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/personnel', key, { name: 'Zoë' });
    const response = await fetch(`${service.origin}/v1/personnel?format=csv&bom=true`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
    const again = await service.upload('/v1/personnel/import?mode=upsert', key, bytes);
    assert.equal(again.body.summary.unchanged, 1, again.text);
    const refused = await service.get('/v1/personnel?bom=true', key);
    assert.deepEqual([refused.status, refused.body.errors[0].parameter], [400, 'bom']);
  });
});

onBothEngines('an import', (start, engine) => {
  test('stops if its client goes while it is written, unless the client can ask for the result again', async (t) => {
    const file = `name\n${Array.from({ length: 3000 }, (_, i) => `Person ${i}`).join('\n')}\n`;
    for (const [query, headers, isComplete] of [
      ['?atomic=true', {}, false],
      ['', {}, false],
      ['?atomic=true', { 'idempotency-key': 'once' }, true],
    ] as const) {
      const { service, key } = await withKey(start(t));
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
      const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
      const holding = service.database.write(async (db) => {
        if (engine === 'postgres') await sql`lock table people in exclusive mode`.execute(db);
        hold();
        await isReleased;
      });
      await isHeld;
      const sent = request(`${service.origin}/v1/personnel/import${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'text/csv', ...headers },
      });
      sent.on('error', () => {});
      const connected = once(service.app.server, 'connection');
      const [started, ended] = [handled('start'), handled('asyncEnd')];
      sent.end(file);
      const [connection] = await connected;
      await started;
      sent.destroy();
      await once(connection, 'close');
      release();
      await Promise.all([holding, ended]);
      const { body } = await service.get('/v1/personnel', key);
      const rows = body.data.length;
      if (isComplete) assert.equal(rows, 3000);
      else assert.ok(query === '' ? rows < 3000 : rows === 0, `${rows} rows`);
    }
  });
});

test('the file of a form can contain anything but the delimiter', () => {
  const content = Buffer.from([0, 13, 10, 45, 45, 255, 13, 10, 13, 10]);
  assert.deepEqual(readForm(form([filePart('a "quoted".bin'), content]), type).content, content);
  const many = form(...Array.from({ length: 30 }, () => [filePart('a'), ''] as [string, string]));
  assert.throws(() => readForm(many, type), /more than 20 parts/);
  assert.throws(() => readForm(content, 'multipart/form-data'), /no boundary/);
});
