import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, onSqlite, pluck, type TestService, withKey } from '../../test/service.ts';
import { sheetRows, workbookOf } from '../../test/workbook.ts';
import { xlsxType } from '../formats/xlsx-write.ts';
import { groupImport } from '../resources/groups/import.ts';
import type { Importable } from './importable.ts';
import { createRowParser } from './parse-rows.ts';
import { createColumns } from './recognize/columns.ts';
import { readRecognition } from './recognize/parameters.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

async function importer(started: Promise<TestService>) {
  const { service, key } = await withKey(started);
  return {
    service,
    key,
    send: (path: string, file: string | Uint8Array, type?: string) => service.upload(path, key, file, type),
    all: (path: string): Promise<Any[]> => service.list(path, key),
  };
}

const notesOf = ({ results }: Any, kind: 'errors' | 'warnings') =>
  results.flatMap(({ line, [kind]: found = [] }: Any) =>
    found.map(({ pointer, code }: Any) => [line, pointer, code]),
  );

// Reading a file does not depend on the engine.
onSqlite('an import loses nothing in silence:', (start) => {
  test('all people of a list in a cell become members of the group', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    const people = ['Ada', 'Grace', 'Katherine', 'Mary Shelley'];
    for (const name of people) await service.make('/v1/personnel', key, { name });
    const file =
      'name,members\nCommas,"Ada, Grace, Katherine"\nLast name first,"Shelley, Mary"\n' +
      'Lines,"Ada\nGrace & Katherine"\nBoth,"Shelley, Mary; Ada/Grace [50%]"\nUnknown,"Ada, Zoe"\n';
    const { body } = await send('/v1/groups/import', file);
    const users = new Map((await all('/v1/personnel')).map(({ user_id, name }) => [user_id, name]));
    const groups = (await all('/v1/groups?include=members')).map(({ name, member_user_ids }) => [
      name,
      member_user_ids.map((id: string) => users.get(id)).sort(),
    ]);
    assert.deepEqual(Object.fromEntries(groups), {
      Commas: ['Ada', 'Grace', 'Katherine'],
      'Last name first': ['Mary Shelley'],
      Lines: ['Ada', 'Grace', 'Katherine'],
      Both: ['Ada', 'Grace', 'Mary Shelley'],
    });
    assert.deepEqual(notesOf(body, 'errors'), [[7, '#/member_user_ids', 'unknown_reference']]);
    assert.deepEqual(notesOf(body, 'warnings'), [[6, '#/member_user_ids', 'not_used']]);
    assert.match(body.results[3].warnings[0].detail, /“\[50%\]” was not used/);
  });

  test('a field for one person takes the first of a list, with a warning about the others', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    for (const name of ['Ada Lovelace', 'Grace Hopper']) await service.make('/v1/personnel', key, { name });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const file =
      'title,owner\nFirst,"Ada Lovelace, Grace Hopper"\nInverted,"Lovelace, Ada"\nNobody,"Linus, Grace Hopper"\n';
    const { body } = await send('/v1/projects/APOLLO/risks/import', file);
    const owners = (await all('/v1/projects/APOLLO/risks')).map(({ title, owner_name }) => [
      title,
      owner_name,
    ]);
    assert.deepEqual(Object.fromEntries(owners), { First: 'Ada Lovelace', Inverted: 'Ada Lovelace' });
    assert.match(body.results[0].warnings[0].detail, /one person, Ada Lovelace. “Grace Hopper” was not used/);
    assert.equal(body.results[1].warnings, undefined);
    assert.match(body.results[2].errors[0].detail, /No person or group matches “Linus, Grace Hopper”/);
  });

  test('text around a date is an error of the row, a time is not', async (t) => {
    const { send, all } = await importer(start(t));
    const dates = [
      '2026-11-20 to 2026-11-25',
      'before 20.11.2026',
      '20 Nov 2026 (planned)',
      '2026-11-20 5',
      '2026-11-20',
      '2026-11-20T09:30:00Z',
      'Fri 20.11.2026 9:30 PM',
      '20/Nov/26 09:30:00.5 +0100',
      'Fri 20.11.2026 9:30 PM CET',
      'Mon 20.11.2026',
    ];
    const file = `name,start date\n${dates.map((date, i) => `P${i},${date}\n`).join('')}`;
    const { body } = await send('/v1/personnel/import', file);
    assert.deepEqual(
      notesOf(body, 'errors'),
      [2, 3, 4, 5, 10, 11].map((line) => [line, '#/start_on', 'format']),
    );
    assert.match(body.results[0].errors[0].detail, /one day, with nothing but a time after it/);
    assert.deepEqual(
      (await all('/v1/personnel')).map(({ name, start_on }) => [name, start_on]),
      ['P4', 'P5', 'P6', 'P7'].map((name) => [name, '2026-11-20']),
    );
  });

  test('a header on two lines is combined, and a repeated one is skipped', async (t) => {
    const { send, all } = await importer(start(t));
    const merged = 'Name,,Contact,\nFirst name,Last name,Email,Phone\nAda,Lovelace,ada@example.com,1\n';
    const { body } = await send('/v1/personnel/import', merged);
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name', 'email', 'phone'), [
      ['Ada Lovelace', 'ada@example.com', '1'],
    ]);
    assert.deepEqual([body.results.length, body.results[0].line], [1, 3]);
    const repeated = await send('/v1/personnel/import', 'name,title\nName,Title\nGrace,Admiral\n');
    assert.deepEqual(pluck(repeated.body.results, 'line', 'status'), [[3, 'created']]);
    assert.deepEqual(repeated.body.summary.skipped_cells, [
      { column: null, line: 2, cells: 2, reason: 'It repeats the header. “Name Title”' },
    ]);
    // Words that also name columns can be the values of a row.
    const words = 'name,kind,status,location,title,\nBob,Employee,Active,Office,Manager,x\n';
    assert.equal((await send('/v1/personnel/import', words)).body.summary.created, 1);
    const group = await send('/v1/groups/import', 'name,description\nTeam,Notes\n');
    assert.equal(group.body.summary.created, 1);
  });

  test('cells without a name, repeated columns and lines above the header are reported', async (t) => {
    const { send, all } = await importer(start(t));
    const file = 'Staff 2026,,,,\nname,,name,Badge,\nAda,x,Ada L.,7,\nGrace,,,,\nMary,y,,8,z\n';
    const { body } = await send('/v1/personnel/import', file);
    assert.deepEqual(
      body.summary.skipped_cells.map(({ reason: _, ...cells }: Any) => cells),
      [
        { column: null, line: 1, cells: 1 },
        { column: null, position: 2, line: 3, cells: 2 },
        { column: 'name', position: 3, line: 3, cells: 1 },
        { column: 'Badge', position: 4, line: 3, cells: 2 },
        { column: null, position: 5, line: 5, cells: 1 },
      ],
    );
    assert.deepEqual(body.summary.columns, { name: 'name' });
    assert.match(body.summary.explanation, /Skipped line 1\. .*“Staff 2026”/);
    assert.match(body.summary.explanation, /Skipped 2 cells, the first on line 3. Column B has no name/);
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name'), ['Ada', 'Grace', 'Mary']);
    const kept = await send('/v1/personnel/import?unknown_columns=attributes', 'name,Tag,Tag\nBob,a,b\n');
    assert.deepEqual(kept.body.summary.skipped_cells, [
      { column: 'Tag', position: 3, line: 2, cells: 1, reason: 'An earlier column has the same name.' },
    ]);
    const ndjson = await send(
      '/v1/personnel/import?unknown_columns=skip&map=Note%3D',
      '{"name":"Eve","created_at":"2020","Badge":1,"Note":"x","empty":""}\n{"name":"Tom","Badge":2}\n',
      'application/x-ndjson',
    );
    assert.deepEqual(pluck(ndjson.body.summary.skipped_cells, 'column', 'line', 'cells'), [
      ['created_at', 1, 1],
      ['Badge', 1, 2],
      ['Note', 1, 1],
    ]);
  });

  test('a workbook without one of its texts fails the row, and a value beyond the header too', async (t) => {
    const { send, all } = await importer(start(t));
    const text = (at: string, content: string) => `<c r="${at}" t="inlineStr"><is><t>${content}</t></is></c>`;
    const rows =
      `<row r="1">${text('A1', 'name')}${text('B1', 'title')}</row>` +
      `<row r="2">${text('A2', 'Ada')}<c r="B2" t="s"><v>7</v></c></row>` +
      `<row r="3">${text('A3', 'Grace')}<c r="B3"><is><t>Admiral</t></is></c></row>` +
      `<row r="4">${text('A4', 'Mary')}${text('A4', 'Anne')}</row>` +
      `<row r="5">${text('A5', 'Eve')}${text('C5', 'x')}</row>`;
    const { body } = await send('/v1/personnel/import', await workbookOf([{ name: 's', rows }]), xlsxType);
    assert.deepEqual(
      body.results.map(({ errors = [{}] }: Any) => errors[0].detail?.replace(/ of the sheet “s”/, '')),
      [
        'The cell B2 refers to a text that the file does not contain. Open the file in a spreadsheet program, enter the text again and save the file.',
        undefined,
        'The cell A4 occurs twice. Open the file in a spreadsheet program and save it.',
        'Column C has a value in this row, but no name in the header. Name the column, or clear the cell.',
      ],
    );
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name', 'title'), [['Grace', 'Admiral']]);
    const oneColumn = await workbookOf([{ name: 's', rows: sheetRows(['name'], ['', 'lost'], ['Tom']) }]);
    const { body: narrow } = await send('/v1/personnel/import', oneColumn, xlsxType);
    assert.deepEqual(notesOf(narrow, 'errors'), [[2, undefined, 'unreadable']]);
  });

  test('columns with the names of object members are unknown columns', async (t) => {
    const { send, all } = await importer(start(t));
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    // The last three columns make it an export of Personio.
    for (const [i, others] of ['', ',Employment type,Hire date,Supervisor,Office'].entries()) {
      const file = `name,${names.join(',')}${others}\nP${i},a,b,c,d${others.replace(/[^,]+/g, '')}\n`;
      const path = '/v1/personnel/import?unknown_columns=skip';
      const { status, body, text } = await send(path, file);
      assert.equal(status, 200, text);
      assert.deepEqual(Object.keys(body.summary.unknown_columns), names);
      assert.deepEqual(pluck(body.summary.skipped_cells, 'column'), names);
      const kept = await send(
        '/v1/personnel/import?unknown_columns=attributes',
        file.replace(`P${i}`, `Q${i}`),
      );
      assert.equal(kept.body.summary.created, 1, kept.text);
      assert.deepEqual(Object.keys(kept.body.summary.unknown_columns), ['__proto__']);
      const [person] = await all(`/v1/personnel?q=Q${i}`);
      assert.deepEqual(Object.entries(person.attributes).sort(), [
        ['constructor', 'b'],
        ['hasOwnProperty', 'd'],
        ['toString', 'c'],
      ]);
    }
  });

  test('`map_values` and `map` for columns or texts that do not exist are rejected', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const file = 'Title,Status,Owner,Badge\nx,Parked,,1\ny,Open,,2\n';
    const detailOf = async (query: string, content = file, type?: string) => {
      const { status, body } = await send(`/v1/projects/APOLLO/risks/import?${query}`, content, type);
      assert.deepEqual([status, body.code], [400, 'invalid_parameter'], JSON.stringify(body));
      return body.detail;
    };
    assert.match(
      await detailOf('map_values=Statu:Parked=monitoring'),
      /names the column “Statu”, which is not in the file. Did you mean “Status”\? Its columns are “Title”, “Status” and “Owner”\./,
    );
    assert.match(
      await detailOf('map_values=Owner:Ada=x'),
      /text “Ada”, which the column “Owner” does not contain/,
    );
    assert.match(
      await detailOf('map_values=Status:Parked=monitoring,Status:Opne=open'),
      /the text “Opne”, which the column “Status” does not contain. Did you mean “Open”\? Its texts are “Parked” and “Open”/,
    );
    assert.match(
      await detailOf('map=Statsu=status'),
      /“Statsu”, which is not in the file. Did you mean “Status”\?/,
    );
    assert.match(await detailOf('scales=Imapct=1-10'), /“Imapct”, which is not in the file/);
    assert.match(await detailOf('scales=Title=1-10'), /“Title”, which has no ratings/);
    const ndjson = ['{"title":"x"}', 'application/x-ndjson'] as const;
    assert.match(await detailOf('map_values=title:x=y', ...ndjson), /`map_values` is for CSV and XLSX/);
    assert.deepEqual(await all('/v1/projects/APOLLO/risks'), []);
    const query = 'map_values=status:parked=monitoring';
    const { body } = await send(`/v1/projects/APOLLO/risks/import?${query}`, file);
    assert.equal(body.summary.created, 2, JSON.stringify(body));
  });

  test('a value that another column overrides is a warning or an error', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    const people = 'name,first name,last name,reason\nAda Lovelace,Ada,Lovelace,\nMary,Anne,Shelley,Moved\n';
    const { body } = await send('/v1/personnel/import', people);
    assert.deepEqual(notesOf(body, 'warnings'), [
      [3, '#/name', 'not_used'],
      [3, '#/reason', 'not_used'],
    ]);
    const attributes = 'name,attributes,attributes.badge\nBob,"{""badge"":""1""}",2\nEve,"{""a"":""1""}",2\n';
    assert.deepEqual(notesOf((await send('/v1/personnel/import', attributes)).body, 'errors'), [
      [2, '#/attributes/badge', 'contradiction'],
    ]);
    const twice = '{"name":"A","name":"B"}\n{"name":"C","Name":"D"}\n{"name":"E","skills":["a,b","\\",{"]}\n';
    const { body: objects } = await send('/v1/personnel/import', twice, 'application/x-ndjson');
    assert.deepEqual(notesOf(objects, 'errors'), [
      [1, undefined, 'unreadable'],
      [2, '#/name', 'repeated_field'],
    ]);
    assert.deepEqual(pluck(await all('/v1/personnel'), 'name'), ['Ada Lovelace', 'E', 'Eve', 'Mary']);
    for (const name of ['Apollo', 'Hermes']) await service.make('/v1/projects', key, { name });
    const across =
      'project key,project,title,owner_user_id,owner\nAPOLLO,Hermes,x,,\nAPOLLO,Apollo,y,usr_none,Mary\n';
    const { body: risks } = await send('/v1/imports/risks', across);
    assert.deepEqual(notesOf(risks, 'errors'), [[2, '#/project', 'unknown_reference']]);
    assert.deepEqual(notesOf(risks, 'warnings'), [[3, '#/owner_user_id', 'not_used']]);
    const unknown = await send(
      '/v1/imports/risks?create_projects=true',
      'project key,project,title\nGEMINI,Project Gemini,x\n',
    );
    assert.match(
      unknown.body.results[0].errors[0].detail,
      /“GEMINI” and “Project Gemini” name a project that/,
    );
    assert.equal((await all('/v1/projects')).length, 2);
    assert.deepEqual(pluck(await all('/v1/projects/APOLLO/risks'), 'owner_name'), ['Mary']);
  });
});

onSqlite('an import tells', (start) => {
  test('each text that was read as another value, with its number of cells', async (t) => {
    const { service, key, send } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const many = Array.from({ length: 60 }, (_, i) => `M${i},${i + 10}%,,\n`).join('');
    const file =
      'Title,Impact (%),Raised on,Owner\nA,High,15.11.2026,TBD\nB,high,16.11.2026,\nC,High,17 Nov 2026,TBD\n' +
      `D,,2026-11-18,\n${many}`;
    for (const query of ['dry_run=true', 'atomic=true']) {
      const { body, text } = await send(`/v1/projects/APOLLO/risks/import?${query}`, file);
      assert.equal(body.summary?.failed, 0, text);
      const found = body.summary.readings.filter(({ text }: Any) => !text.endsWith('%'));
      assert.deepEqual(
        found.map(({ column, text, value, cells }: Any) => [column, text, value, cells]),
        [
          ['Impact (%)', 'High', '4', 2],
          ['Impact (%)', 'high', '4', 1],
          ['Raised on', '15.11.2026', '2026-11-15', 2],
          ['Raised on', '17 Nov 2026', '2026-11-17', 1],
          ['Owner', 'TBD', 'null', 2],
        ],
      );
      assert.equal(body.summary.readings.length, found.length + 60);
      assert.equal(Object.keys(body.summary.values['Impact (%)']).length, 50);
      assert.equal(body.summary.values['Raised on'], undefined);
    }
  });

  test('the warnings of unchanged rows, and that a file may be cut off', async (t) => {
    const { service, key, send } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/risks/import?mode=upsert&results=changed';
    const file = 'external_id,title,probability,impact,score\n1,A,2,2,25\n2,B,2,2,4';
    for (const lines of [[2, 3], [2]]) {
      const { body } = await send(path, file);
      assert.deepEqual(pluck(body.results, 'line'), lines);
      assert.match(body.summary.explanation, /^Its last line has no line break/);
    }
    assert.doesNotMatch((await send(path, `${file}\r\n`)).body.summary.explanation, /line break/);
  });

  test('merged cells as the value of all their rows, which an upsert does not clear', async (t) => {
    const { service, key, send, all } = await importer(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    let line = 0;
    const cells = sheetRows(
      ['Risk ID', 'Title', 'Category'],
      ['1', 'A', 'Supply'],
      ['2', 'B', ''],
      ['3', 'C', ''],
    );
    const rows = `${cells.replaceAll('<row>', () => `<row r="${++line}">`)}</sheetData><mergeCells count="1"><mergeCell ref="C2:C3"/></mergeCells><sheetData>`;
    const file = await workbookOf([{ name: 'Risks', rows }]);
    for (const status of ['created', 'unchanged']) {
      const { body } = await send('/v1/projects/APOLLO/risks/import?mode=upsert', file, xlsxType);
      assert.deepEqual(pluck(body.results, 'status'), [status, status, status], JSON.stringify(body));
    }
    const risks = await all('/v1/projects/APOLLO/risks');
    assert.deepEqual(risks.map(({ title, category }) => [title, category]).sort(), [
      ['A', 'Supply'],
      ['B', 'Supply'],
      ['C', null],
    ]);
  });

  test('a group of 1,001 members that was exported, and too many names', async (t) => {
    const { service, key, send } = await importer(start(t));
    const people = Array.from({ length: 1001 }, (_, i) => `Person ${i}\n`).join('');
    await send('/v1/personnel/import', `name\n${people}`);
    const group = await service.make('/v1/groups', key, { name: 'All' });
    const ids = pluck(await service.list('/v1/personnel', key), 'user_id');
    const header = { id: group.id, name: 'All', member_user_ids: ids };
    const first = await send('/v1/groups/import?mode=upsert', JSON.stringify(header), 'application/x-ndjson');
    assert.equal(first.body.summary.updated, 1, first.text);
    const { text } = await service.get('/v1/groups?include=members&format=csv', key);
    const again = await send('/v1/groups/import?mode=upsert', text);
    assert.equal(again.body.summary.unchanged, 1, again.text);

    const importable = groupImport() as unknown as Importable;
    const recognition = readRecognition({} as never, 'UTC');
    const parse = createRowParser(importable, createColumns(importable, recognition), false);
    const row = (line: number, names: number) => {
      const members = Array.from({ length: names }, (_, i) => `Person ${line} ${i}`);
      return parse({ line, names: ['name', 'member_user_ids'], cells: [`G${line}`, members] }, line).errors;
    };
    assert.deepEqual(pluck(row(0, 1001), 'code'), ['maxLength']);
    for (let line = 1; line <= 100; line++) assert.deepEqual(row(line, 1000), []);
    assert.deepEqual(pluck(row(100, 1000), 'code'), [], 'the same names');
    assert.deepEqual(pluck(row(101, 1), 'code'), ['too_many']);
  });
});

onBothEngines('an import follows the rules of single requests', (start) => {
  test('forbidden characters fail their row, wherever they are', async (t) => {
    const { send, all } = await importer(start(t));
    const lines = [
      String.raw`{"name":"x","manager_user_id":"a\u0000b"}`,
      String.raw`{"name":"x","manager_user_id":"\ud800"}`,
      String.raw`{"name":"x","user_id":"a\u0000"}`,
      String.raw`{"name":"x\u0007"}`,
    ];
    const people = await send('/v1/personnel/import', lines.join('\n'), 'application/x-ndjson');
    assert.deepEqual(notesOf(people.body, 'errors'), [
      [1, '#/manager_user_id', 'forbidden_characters'],
      [2, '#/manager_user_id', 'forbidden_characters'],
      [3, '#/user_id', 'forbidden_characters'],
      [4, '#/name', 'forbidden_characters'],
    ]);
    const parts = await send('/v1/personnel/import', 'First name,Last name\nAd\u0007a,Lovelace\n');
    assert.deepEqual(notesOf(parts.body, 'errors')[0].slice(2), ['forbidden_characters']);
    const projects = ['a\u0000b', 'a'.repeat(201), 'a\nb'];
    const file = projects.map((project) => JSON.stringify({ title: 'x', project })).join('\n');
    const risks = await send('/v1/imports/risks?create_projects=true', file, 'application/x-ndjson');
    assert.deepEqual(pluck(risks.body.results, 'status'), ['failed', 'failed', 'failed'], risks.text);
    assert.deepEqual(await all('/v1/projects'), []);
  });

  test('a project is created only for a row that can be imported, and not with a limited key', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const file = 'project,title,due_on\nGhost,x,never\nReal,y,\n';
    const path = '/v1/imports/risks?create_projects=true';
    const limited = await service.limitedKey(['APOLLO'], 'projects.manage');
    const refused = await service.upload(path, limited, `${file}APOLLO,z,\n`);
    assert.deepEqual([refused.status, refused.body.code], [403, 'key_limited']);
    const { body } = await service.upload(path, key, file);
    assert.deepEqual(pluck(body.results, 'status'), ['failed', 'created']);
    const names = pluck(await service.list('/v1/projects', key), 'name');
    assert.deepEqual(names.toSorted(), ['Apollo', 'Real']);
  });
});
