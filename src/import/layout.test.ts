import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, pluck, withKey } from '../../test/service.ts';
import { sheetRows, workbookOf } from '../../test/workbook.ts';
import { xlsxType } from '../formats/xlsx-write.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const path = '/v1/projects/APOLLO/risks';

// Reading a file does not depend on the engine.
onSqlite('the layout of a table', (start) => {
  test('is found: lines above the header, two lines of names, groups and totals', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const send = async (file: string | Uint8Array, query = '', type = 'text/csv') => {
      const { status, body, text } = await service.upload(`${path}/import?${query}`, key, file, type);
      assert.equal(status, 200, text);
      return body;
    };
    const stored = async (body: Any, ...fields: string[]) => {
      const all: Any[] = await service.list(`${path}?status=all`, key);
      const found = new Map(all.map((risk) => [risk.id, risk]));
      return pluck(
        body.results.map(({ id }: Any) => found.get(id) ?? {}),
        ...fields,
      );
    };
    const lines = ({ summary }: Any) =>
      summary.skipped_cells.filter(({ column }: Any) => column === null).map(({ line }: Any) => line);

    await t.test('titles with several cells, and #TYPE', async () => {
      const report = '#TYPE Selected.Object\nReport,of 18 Nov 2026\nProject:,Apollo,Status:,Draft\n';
      const body = await send(`${report}ID,Risk,Likelihood,Impact\n1,A,2,3\n`);
      assert.deepEqual(await stored(body, 'title', 'probability', 'impact'), [['A', 2, 3]]);
      assert.deepEqual(lines(body), [1, 2, 3]);
      const semicolons = await send('Register, as of Nov 18, 2026\nID;Risk;Impact\n1b;B, and more;3\n');
      assert.deepEqual(await stored(semicolons, 'title', 'impact'), [['B, and more', 3]]);
    });

    await t.test('merged cells', async () => {
      const body = await send(
        'No.,Risk,Inherent,,Residual,,Owner\n,,Likelihood,Impact,Likelihood,Impact,\n2,C,4,5,1,2,\n',
      );
      const fields = ['title', 'probability', 'impact', 'residual_probability', 'residual_impact'];
      assert.deepEqual(await stored(body, ...fields), [['C', 4, 5, 1, 2]]);
      assert.equal(body.summary.columns['Residual Likelihood'], 'residual_probability');
    });

    await t.test('groups with a header each, and totals', async () => {
      const group = 'Name,Owner,Status,Likelihood,Impact,Cost\n';
      const body = await send(
        `Board,,,,,\nOpen,,,,,\n${group}D,,Open,2,3,10\n,,,,,10\nDone,,,,,\n${group}E,,Open,3,3,5\n` +
          'F,,,,,\nTotal,,,5,6,15\n',
      );
      assert.deepEqual(await stored(body, 'title'), ['D', 'E', 'F']);
      assert.deepEqual(lines(body), [1, 2, 5, 6, 7, 10]);
      assert.match(body.summary.explanation, /Skipped line 5\. It is a row of totals\. “10”/);
      assert.match(body.summary.explanation, /Skipped line 6\. It is the title of a group of rows\. “Done”/);
      const sections = await send('ID,Risk,Owner\nTechnical risks,,\nT1,G,\n');
      assert.deepEqual(await stored(sections, 'title'), ['G']);
      assert.deepEqual(lines(sections), [2]);
    });

    await t.test('the line that the request names', async () => {
      const file = 'title,notes\nx,y\nRisk,Impact\nH,4\n';
      const body = await send(file, 'header_row=3');
      assert.deepEqual(await stored(body, 'title', 'impact'), [['H', 4]]);
      assert.deepEqual(lines(body), [1, 2]);
      assert.equal(body.summary.header_row, 3);
      assert.deepEqual(body.summary.first_lines[0], { line: 1, text: 'title, notes' });
      assert.equal(body.summary.first_lines.length, 4);
      const unknown = await service.upload(`${path}/import`, key, 'Wer,Was\nAda,Kaffee\nBob,Tee\n');
      assert.deepEqual([unknown.body.header_row, unknown.body.first_lines[2].text], [1, 'Bob, Tee']);
      const { status, body: problem } = await service.upload(`${path}/import?header_row=9`, key, file);
      assert.deepEqual([status, problem.errors[0].parameter], [400, 'header_row']);
    });

    await t.test('the sheet of the resource', async () => {
      const sheet = (name: string, title: string) => ({
        name,
        rows: sheetRows(['Title', 'Status'], [title, 'Open']),
      });
      const cover = { name: 'Cover', rows: sheetRows(['How to use this log'], ['Read it']) };
      const raid = await workbookOf([cover, sheet('Issues', 'An issue'), sheet('Risks', 'I')]);
      const body = await send(raid, '', xlsxType);
      assert.deepEqual(await stored(body, 'title'), ['I']);
      assert.equal(body.summary.sheet, 'Risks');
      assert.deepEqual(body.summary.sheets, ['Cover', 'Issues', 'Risks']);
      const coverOnly = await service.upload(`${path}/import?sheet=Cover`, key, raid, xlsxType);
      assert.deepEqual([coverOnly.status, coverOnly.body.sheets], [422, ['Cover', 'Issues', 'Risks']]);
      await service.make('/v1/mappings', key, { list: 'risks', name: 'raid', query: 'sheet=Issues' });
      assert.equal((await send(raid, 'mapping=raid', xlsxType)).summary.sheet, 'Issues');
      // The corrected rows of a workbook can be sent as CSV.
      assert.equal((await send('Title\nK\n', 'mapping=raid')).summary.created, 1);
      const other = await workbookOf([cover, sheet('Log', 'J')]);
      assert.equal((await send(other, '', xlsxType)).summary.sheet, 'Log');
    });
  });
});
