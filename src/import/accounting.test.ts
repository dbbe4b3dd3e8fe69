import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { onSqlite, type TestService, withKey } from '../../test/service.ts';
import { workbook } from '../../test/workbook.ts';
import { csvLine } from '../formats/csv.ts';
import { xlsxType } from '../formats/xlsx-write.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

/** A cell of a file and the words that must be found again. A date loses its time and the name of its month. */
type Cell = { text: string; words: string[] };

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
const plain = (text: string): Cell => ({ text, words: wordsIn(text) });

const people = ['Ada Lovelace', 'Grace Hopper', 'Katherine Johnson'];
/** Names that no other cell contains. */
const token = fc.integer({ min: 1000, max: 9_999_999 }).map((n) => `tok${n.toString(36)}x`);
const anyText = fc.oneof(
  token,
  fc.tuple(token, token).map((pair) => pair.join(' ')),
  fc.constant(''),
);
const person = fc.constantFrom(
  ...people,
  'Lovelace, Ada',
  'Ada Lovelace [50%]',
  'Grace Hopper (part time)',
  'Zoe',
);
const listOfPeople = fc
  .tuple(fc.array(person, { maxLength: 3 }), fc.constantFrom('; ', ', ', ' / ', '\n'))
  .map(([names, separator]) => names.join(separator));
const date = fc.oneof(
  fc
    .constantFrom(
      ...[
        '2026-11-20',
        '20.11.2026',

        '2026-11-20 to 2026-11-25',
        'before 2026-11-20',
        '',
        'soon',
      ],
    )
    .map(plain),
  fc.constantFrom('2026-11-20T09:30:00Z', '20.11.2026 9:30 PM', '20 Nov 2026').map((text) => ({
    text,
    words: ['2026', '11', '20'],
  })),
);
const rating = fc
  .constantFrom('1', '3', '5', '4 - Likely', 'High', '15%', '0.3', '7', '', 'dunno')
  .map(plain);

/** The columns that a file can have, with their cells. */
type Columns = Record<string, fc.Arbitrary<Cell>>;

const common: Columns = {
  external_id: token.map(plain),
  '': anyText.map(plain),
  Badge: anyText.map(plain),
  __proto__x: anyText.map(plain),
  constructor: anyText.map(plain),
  created_at: anyText.map(plain),
  reason: anyText.map(plain),
};
const resources: Record<'personnel' | 'groups' | 'risks', Columns> = {
  personnel: {
    ...common,
    name: anyText.map(plain),
    'First name': anyText.map(plain),
    'Last name': anyText.map(plain),
    department: anyText.map(plain),
    Division: anyText.map(plain),
    manager: person.map(plain),
    'start date': date,
    skills: fc.array(token, { maxLength: 3 }).map((list) => plain(list.join('; '))),
    attributes: fc.oneof(
      token.map((name) => plain(`{"badge":"${name}"}`)),
      fc.constant(plain('')),
    ),
    'attributes.badge': anyText.map(plain),
    status: fc.constantFrom('active', 'Left', 'On leave', 'weird', '').map(plain),
  },
  groups: {
    ...common,
    name: token.map(plain),
    description: anyText.map(plain),
    members: listOfPeople.map(plain),
    'team lead': person.map(plain),
  },
  risks: {
    ...common,
    title: anyText.map(plain),
    description: anyText.map(plain),
    Likelihood: rating,
    impact: rating,
    'Risk score': fc.constantFrom('12', 'High', 'Tolerable', '').map(plain),
    owner: listOfPeople.map(plain),
    owner_user_id: fc.constantFrom('', 'usr_elsewhere').map(plain),
    Response: fc.constantFrom('Mitigate', 'Call the supplier', '').map(plain),
    'Response plan': anyText.map(plain),
    due: date,
  },
};

type Resource = keyof typeof resources;
type File = {
  resource: Resource;
  format: 'csv' | 'ndjson' | 'xlsx';
  query: string;
  titles: string[];
  names: string[];
  rows: Cell[][];
  /** The number of cells that a row has more or fewer than the header. */
  excess: number[];
};

const files: fc.Arbitrary<File> = fc
  .constantFrom(...(Object.keys(resources) as Resource[]))
  .chain((resource) => {
    const columns = resources[resource];
    const required = resource === 'risks' ? 'title' : 'name';
    // Names can be repeated.
    return fc
      .array(fc.constantFrom(...Object.keys(columns)), { minLength: 1, maxLength: 7 })
      .chain((some) => {
        const names = [required, ...some].map((name) => (name === '__proto__x' ? '__proto__' : name));
        const row = fc.tuple(
          ...[required, ...some].map((name) => columns[name] as fc.Arbitrary<Cell>),
        ) as fc.Arbitrary<Cell[]>;
        const rowCount = { minLength: 1, maxLength: 4 };
        return fc.record({
          resource: fc.constant(resource),
          format: fc.constantFrom('csv' as const, 'ndjson' as const, 'xlsx' as const),
          query: fc.constantFrom('', 'unknown_columns=skip', 'unknown_columns=attributes', 'mode=upsert'),
          titles: fc.array(token, { maxLength: 1 }),
          names: fc.constant(names),
          rows: fc.array(row, rowCount),
          excess: fc.array(fc.constantFrom(0, 0, 0, 0, 0, 1, -1), rowCount),
        });
      });
  });

/** The file as bytes or text, and its rows as they were written. */
async function pack({ format, titles, names, rows, excess }: File) {
  if (format === 'ndjson') {
    const lines = rows.map((row) => {
      const members = row.map(({ text }, i) => `${JSON.stringify(names[i])}:${JSON.stringify(text)}`);
      return `{${members.join(',')}}\n`;
    });
    return { content: lines.join(''), type: 'application/x-ndjson', titleLines: 0, rows };
  }
  const above = titles.map((title) => [title, ...names.slice(1).map(() => '')]);
  const ragged = rows.map((row, i) => {
    const change = excess[i] ?? 0;
    return change > 0 ? [...row, plain('surplus')] : row.slice(0, row.length + change);
  });
  const lines = [...above, names, ...ragged.map((row) => row.map(({ text }) => text))];
  const packed = { titleLines: above.length, rows: ragged };
  if (format === 'csv') return { ...packed, content: lines.map(csvLine).join(''), type: 'text/csv' };
  return { ...packed, content: await workbook(lines), type: xlsxType };
}

onSqlite('every cell of a file', (start) => {
  test('is stored, reported as skipped, or in a row with an error', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of people) await service.make('/v1/personnel', key, { name });
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const seen = { imported: 0, stored: 0, skipped: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(files, async (file) => {
        const { content, type, rows, titleLines } = await pack(file);
        const base = file.resource === 'risks' ? '/v1/projects/APOLLO/risks' : `/v1/${file.resource}`;
        const headers = { 'content-type': type };
        const { status, body } = await service.call(
          'POST',
          `${base}/import?${file.query}`,
          key,
          content,
          headers,
        );
        // A refused file is an error of all its cells.
        if (status !== 200) {
          assert.ok([400, 422].includes(status), JSON.stringify(body));
          assert.ok(body.detail.length > 0);
          return;
        }
        seen.imported++;
        const { summary, results } = body;
        const isBlank = (row: readonly Cell[]) => row.every(({ text }) => text === '');
        // A row with nothing but a number in a computed column is a total.
        const isTotal = (row: readonly Cell[]) =>
          row.every(({ text }, i) => text === '' || (file.names[i] === 'Risk score' && text === '12'));
        const totals = file.format === 'ndjson' ? [] : rows.filter((row) => isTotal(row) && !isBlank(row));
        const filled = rows.filter((row) => file.format === 'ndjson' || !isTotal(row));
        assert.equal(results.length, filled.length);
        assert.equal(
          summary.skipped_cells.filter((one: Any) => one.column === null && !one.position).length,
          titleLines + totals.length,
        );
        for (const [at, row] of filled.entries()) {
          const result = results[at];
          if (result.status === 'failed') {
            seen.failed++;
            assert.ok(result.errors.length > 0);
            continue;
          }
          const stored = await storedText(service, key, base, result.id, file.resource);
          const warned = (result.warnings ?? []).map(({ detail }: Any) => detail.toLowerCase()).join(' ');
          for (const [i, { text, words }] of row.entries()) {
            if (text.trim() === '') continue;
            const name = file.names[i] ?? '';
            const isSkipped = summary.skipped_cells.some((one: Any) =>
              one.position === undefined ? one.column === name : one.position === i + 1,
            );
            const isTranslated = Object.hasOwn(summary.values[name] ?? {}, text.trim());
            const isKept = words.every((word) => stored.includes(word) || warned.includes(word));
            assert.ok(
              isSkipped || isTranslated || isKept,
              `“${text}” in the column “${name}” on line ${result.line} is lost: ${JSON.stringify({ result, summary })}`,
            );
            seen[isSkipped ? 'skipped' : 'stored']++;
          }
        }
      }),
      { numRuns: 150 },
    );
    // The property says nothing about files that are all refused, or cells that are all skipped.
    assert.ok(
      seen.imported > 50 && seen.stored > 50 && seen.skipped > 50 && seen.failed > 20,
      JSON.stringify(seen),
    );
  });
});

/** All texts of a resource, with the names of the people that it refers to and the reasons of its changes. */
async function storedText(service: TestService, key: string, base: string, id: string, resource: Resource) {
  const { body } = await service.get(`${base}/${id}`, key);
  const texts = [JSON.stringify(body)];
  const members = resource === 'groups' ? await service.list(`${base}/${id}/members`, key) : [];
  for (const { name } of members) texts.push(name);
  for (const field of ['manager_user_id', 'lead_user_id']) {
    if (body[field]) texts.push((await service.get(`/v1/personnel/${body[field]}`, key)).body.name);
  }
  // The reason of a change is only in the history.
  for (const { reason } of await service.list(`${base}/${id}/history`, key)) texts.push(reason ?? '');
  return texts.join(' ').toLowerCase();
}
