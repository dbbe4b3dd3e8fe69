import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { onSqlite, type TestService } from '../../test/service.ts';
import { xlsxType } from '../formats/xlsx-write.ts';
import { zipped } from '../formats/zip.ts';
import { addRating, readRating as readRatingOf, type Scale, scaleIn, scaleOf } from './recognize/scales.ts';

const readRating = (cell: unknown, scale: Scale) => readRatingOf(cell, 5, scale);

const percent: Scale = { min: 0, max: 100 };
const scales = fc.oneof(
  fc.constantFrom<Scale>(percent, { min: 0, max: 1 }, { min: 1, max: 5 }, { min: 1, max: 10 }),
  fc.record({ min: fc.constantFrom(0 as const, 1 as const), max: fc.integer({ min: 2, max: 100 }) }),
);

test('a higher number never has a lower rating, and every scale has all of its numbers from 1 to 5', () => {
  const numbers = scales.chain((scale) => {
    const step = scale.max === 1 ? 1000 : 1;
    const number = fc.integer({ min: scale.min * step, max: scale.max * step }).map((n) => n / step);
    return fc.tuple(fc.constant(scale), number, number);
  });
  fc.assert(
    fc.property(numbers, ([scale, a, b]) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)].map((number) => readRating(number, scale));
      assert.ok(Number.isInteger(low) && Number.isInteger(high), `${a} and ${b} on ${JSON.stringify(scale)}`);
      assert.ok(1 <= Number(low) && Number(low) <= Number(high) && Number(high) <= 5);
    }),
  );
  fc.assert(
    fc.property(scales, (scale) => {
      assert.equal(readRating(scale.min, scale), scale.min === 1 && scale.max === 2 ? 2 : 1);
      assert.equal(readRating(scale.max, scale), scale.min === 1 && scale.max === 2 ? 4 : 5);
    }),
  );
});

test('the notations of a percentage have one rating', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), (share) => {
      const expected = Math.max(1, Math.ceil(share / 20));
      assert.equal(readRating(`${share}%`, percent), expected);
      assert.equal(readRating(`${share} %`, { min: 0, max: 1 }), expected);
      assert.equal(readRating(String(share), percent), expected);
      assert.equal(readRating(share, percent), expected);
      assert.equal(readRating(share / 100, { min: 0, max: 1 }), expected);
    }),
  );
});

test('the steps of a ten-point scale are halved', () => {
  const tenPoints = scaleIn('Impact (1-10)') as Scale;
  for (let step = 1; step <= 10; step++) {
    assert.equal(readRating(step, tenPoints), Math.ceil(step / 2));
    assert.equal(readRating(`${step} - Label`, tenPoints), Math.ceil(step / 2));
  }
  assert.equal(readRating(11, tenPoints), 11);
  assert.equal(readRating('0', tenPoints), '0');
});

test('the scale in a column name is found', () => {
  for (const name of ['Probability (%)', 'Likelihood %', 'Chance in percent', 'P (0-100%)', 'P /100'])
    assert.deepEqual(scaleIn(name), percent, name);
  for (const name of ['Impact (1-10)', 'Impact 1 to 10', 'Impact /10', 'Impact (1..10)', 'Impact out of 10'])
    assert.deepEqual(scaleIn(name), { min: 1, max: 10 }, name);
  assert.deepEqual(scaleIn('Probability (0-1)'), { min: 0, max: 1 });
  for (const name of ['Impact', 'Impact (1 = up to 10%, 5 = above 90%)', 'Impact 2026', 'R1'])
    assert.equal(scaleIn(name), undefined, name);
});

test('a column of cells from one scale has it, and a mixed column has none, in any order', () => {
  const cells = {
    percent: fc.integer({ min: 0, max: 100 }).map((share) => `${share}%`),
    fraction: fc.integer({ min: 1, max: 99 }).map((share) => share / 100),
    point: fc.integer({ min: 2, max: 5 }),
    high: fc.integer({ min: 6, max: 100 }),
  };
  const kinds = fc.uniqueArray(fc.constantFrom(...(Object.keys(cells) as (keyof typeof cells)[])), {
    minLength: 1,
  });
  const columns = kinds.chain((some) =>
    fc.tuple(
      fc.constant(some),
      fc
        .tuple(...some.map((kind) => fc.array(cells[kind] as fc.Arbitrary<unknown>, { minLength: 1 })))
        .map((lists) => lists.flat())
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
    ),
  );
  const expected: Record<string, Scale> = {
    percent,
    fraction: { min: 0, max: 1 },
    point: { min: 1, max: 5 },
  };
  fc.assert(
    fc.property(columns, ([some, column]) => {
      const found = scaleOfColumn('Impact', column);
      if (some.length === 1 && some[0] !== 'high') assert.deepEqual(found, expected[some[0] as string]);
      else assert.equal('code' in found && found.code, 'unclear_scale');
    }),
  );
});

function scaleOfColumn(name: string, cells: readonly unknown[]) {
  const evidence = {};
  for (const [i, cell] of cells.entries()) addRating(evidence, cell, i + 2, 5);
  return scaleOf(name, evidence, 5);
}

onSqlite('ratings of a file', (start) => {
  test('have one rule for all notations of a scale', async (t) => {
    const { ratings } = await importer(await start(t));
    const shares = ['15', '85', '20', '21', '100', '0'];
    const expected = [1, 5, 1, 2, 5, 1];
    assert.deepEqual((await ratings('Probability (%)', shares)).stored, expected);
    assert.deepEqual((await ratings('Likelihood %', shares)).stored, expected);
    const signs = shares.map((share) => `${share}%`);
    assert.deepEqual((await ratings('Probability', signs)).stored, expected);
    assert.deepEqual((await ratings('Probability (%)', signs)).stored, expected);
    const fractions = shares.map((share) => String(Number(share) / 100));
    assert.deepEqual((await ratings('Probability', fractions)).stored, expected);
    assert.deepEqual((await ratings('Probability (0-1)', fractions)).stored, expected);
    assert.deepEqual((await ratings('Probability', shares, 'scales=Probability=percent')).stored, expected);
    assert.deepEqual((await ratings('Probability (%)', fractions, '', percentWorkbook)).stored, expected);
    assert.deepEqual((await ratings('Probability', fractions, '', percentWorkbook)).stored, expected);

    const steps = ['1', '2', '3', '6', '7', '10'];
    const halves = [1, 1, 2, 3, 4, 5];
    assert.deepEqual((await ratings('Probability (1-10)', steps)).stored, halves);
    assert.deepEqual((await ratings('Probability /10', steps)).stored, halves);
    assert.deepEqual((await ratings('Probability', steps, 'scales=probability=1-10')).stored, halves);
  });

  test('of a column that mixes scales are refused with the column', async (t) => {
    const { ratings } = await importer(await start(t));
    const mixes: [string, string[], RegExp][] = [
      ['Probability', ['15%', '3'], /“Probability”, such as “15%” on line 2 and “3” on line 3\?/],
      [
        'Probability',
        ['4', '3', '7', '1'],
        /such as “7” on line 4 and “4” on line 2\?.*`scales=Probability=1-5`/,
      ],
      ['Probability', ['0.4', '3'], /such as “0.4” on line 2 and “3” on line 3\?/],
      ['Probability (1-5)', ['3', '15%'], /such as “15%” on line 3 and “3” on line 2\?/],
      ['Probability (%)', ['0.4', '30'], /such as “0.4” on line 2 and “30” on line 3\?/],
      ['Probability', ['9', '8'], /such as “9” on line 2\?.*`Impact \(1-10\)`/],
    ];
    for (const [name, cells, message] of mixes) {
      const { status, body, stored } = await ratings(name, cells);
      assert.deepEqual([status, body.errors?.[0]?.code], [422, 'unclear_scale'], name + cells);
      assert.match(body.detail, message);
      assert.deepEqual(stored, []);
    }
  });

  test('outside of the scale that a column names are errors of their rows', async (t) => {
    const { ratings } = await importer(await start(t));
    for (const [name, cells, query] of [
      ['Probability (1-5)', ['5', '6', '1'], ''],
      ['Probability', ['5', '6', '1'], 'scales=Probability=1-5'],
      ['Probability (1-10)', ['10', '12', '1'], ''],
      ['Probability (%)', ['100', '120', '1'], ''],
      ['Probability', ['100%', '120%', '1%'], ''],
    ] as const) {
      const { body, stored } = await ratings(name, cells, query);
      assert.deepEqual(stored, [5, undefined, 1], `${name} ${cells}`);
      assert.match(
        body.results[1].errors[0].detail,
        /is read as (numbers from 1 to|percentages).*`Impact \(1-10\)`/,
      );
    }
    const corrected = await ratings('Probability', ['5', '6', '1'], 'map_values=Probability:6=5');
    assert.deepEqual(corrected.stored, [5, 5, 1]);
    const { status, body } = await ratings('Probability', ['5'], 'scales=Probability=5-2');
    assert.deepEqual([status, body.code], [400, 'invalid_parameter']);
  });

  test('of numbers with words are read by the words where the numbers run against them, or asked for', async (t) => {
    const { ratings } = await importer(await start(t));
    const cases: [string, string[], number[] | undefined, string?][] = [
      ['Impact', ['1 - Critical', '3 - Moderate', '4 - Low'], [5, 3, 2]],
      ['Impact', ['Critical (1)', 'Low (4)'], [5, 2]],
      ['Impact', ['5 - Critical', '2 - Low', '3'], [5, 2, 3]],
      ['Impact (1-10)', ['9 - Critical', '2 - Very low', '10'], [5, 1, 5]],
      // One word, another than the number says, an unknown word, or a number without a word beside turned ones.
      ['Impact', ['1 - High', '1 - High'], undefined],
      ['Impact', ['1 - Critical', '4 - Low', '3'], undefined],
      ['Impact', ['4 - Likes to happen'], undefined],
      ['Impact', ['4 - Likes to happen'], [4], 'scales=Impact=1-5'],
      ['Impact', ['1 - High', '4'], [5, 2], 'scales=Impact=5-1'],
      ['Impact', ['1 - High'], [5], 'map_values=Impact:1 - High=5'],
      ['Impact (5-1)', ['1', '4'], undefined],
      ['Impact (5-1)', ['1', '4'], [5, 2], 'scales=impact=5-1'],
      ['Impact (1=high / 5=low)', ['1', '4'], undefined],
      ['Impact (1 = low; 5 = high)', ['1', '4'], [1, 4]],
      ['Impact (1 = Katastrophal)', ['1', '4'], undefined],
    ];
    for (const [name, cells, expected, query] of cases) {
      const { status, body, stored } = await ratings(name, cells, query, undefined, 'impact');
      const what = `${name}: ${cells}`;
      if (expected) assert.deepEqual(stored, expected, what);
      else assert.deepEqual([status, body.errors?.[0].code], [422, 'unclear_scale'], what);
    }
  });
});

/** Imports a column of ratings into a project of its own, and returns the stored ones in the order of the file. */
async function importer(service: TestService) {
  const key = await service.key();
  let projects = 0;
  return {
    async ratings(
      name: string,
      cells: readonly string[],
      query = '',
      pack?: typeof percentWorkbook,
      field: 'probability' | 'impact' = 'probability',
    ) {
      const project = `P${projects++}X`;
      await service.make('/v1/projects', key, { name: project, key: project });
      const path = `/v1/projects/${project}/risks`;
      const csv = `title,${name}\n${cells.map((cell) => `Risk,${cell}\n`).join('')}`;
      const { status, body } = await service.upload(
        `${path}/import?${query}`,
        key,
        pack ? await pack(name, cells) : csv,
        pack ? xlsxType : 'text/csv',
      );
      const data = await service.list(`${path}?status=all`, key);
      const found = new Map(
        data.map((risk: { id: string; probability: number; impact: number }) => [risk.id, risk[field]]),
      );
      const stored = (body.results ?? []).map(({ id }: { id?: string }) => found.get(id));
      assert.equal(found.size, stored.filter(Boolean).length);
      return { status, body, stored };
    },
  };
}

/** A workbook whose second column has a percent format, as Excel writes it. */
async function percentWorkbook(name: string, cells: readonly string[]): Promise<Buffer> {
  const text = (content: string) => `<c t="inlineStr"><is><t>${content}</t></is></c>`;
  const rows = cells.map((cell) => `<row>${text('Risk')}<c s="1"><v>${cell}</v></c></row>`);
  const header = `<row>${text('title')}${text(name)}</row>`;
  const styles =
    '<styleSheet><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>' +
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs></styleSheet>';
  const pieces = zipped([
    ['xl/workbook.xml', ['<workbook><sheets><sheet name="s" r:id="r0"/></sheets></workbook>']],
    ['xl/styles.xml', [styles]],
    ['xl/worksheets/sheet1.xml', [`<worksheet><sheetData>${header}${rows.join('')}</sheetData></worksheet>`]],
  ]);
  return Buffer.concat(await Array.fromAsync(pieces));
}
