import { joinWords, shortened } from '../../core/text.ts';
import { describeTable } from '../layout/describe.ts';
import type { FileScan } from '../scan.ts';
import type { ImportSummary } from '../schema.ts';
import { targetOf } from './catalogue.ts';
import { maxLength } from './names.ts';
import { presetLabel } from './presets.ts';
import type { SkippedCells } from './skipped.ts';

/** The number of columns or texts that the explanation names. */
const maxNamed = 10;

/** The number of texts of a column in `values`. */
const maxValues = 50;

/** The part of the summary that reports how the columns and values of a file were understood. */
export function explainRecognition(
  { columns, header, charset, endsOpen }: FileScan,
  people: ImportSummary['unknown_people'],
  /** The texts that say that there is nobody, and the number of their cells, by column. */
  nobody: Readonly<Record<string, Readonly<Record<string, number>>>>,
  /** The values that rows got which state none, by field. */
  assumed: Readonly<Record<string, { value: string; cells: number }>>,
) {
  const { sheet } = header ?? {};
  const recognized = [...columns.recognized].map(([name, column]) => [shortened(name), column] as const);
  const used = recognized.filter(([, { is }]) => is !== 'ignored');
  const preset = columns.preset() ?? null;
  const order = columns.dateOrder() ?? null;
  const unknown = [...columns.unknown].map(([name, hint]) => [shortened(name), hint] as const);
  const readings = [
    ...[...columns.readings].flatMap(([name, texts]) =>
      [...texts.values()].map((reading) => ({ ...reading, name, column: shortened(name) })),
    ),
    ...Object.entries(nobody).flatMap(([name, texts]) =>
      Object.entries(texts).map(([text, cells]) => ({
        name,
        column: shortened(name),
        text,
        value: null,
        cells,
        isDate: false,
      })),
    ),
  ];
  const usual = readings.filter(({ text, isDate }) => !isDate && text.length <= maxLength);
  const values = [...Map.groupBy(usual, ({ column }) => column)].map(
    ([name, some]) =>
      [name, new Map(some.slice(0, maxValues).map(({ text, value }) => [text, String(value)]))] as const,
  );
  const unknownValues = [...columns.unknownValues].map(([name, texts]): [string, string[]] => [
    shortened(name),
    [...texts],
  ]);
  const withValues = new Set([...usual.map(({ name }) => name), ...columns.unknownValues.keys()]);
  const unstated = Object.entries(assumed).map(([field, { value, cells }]) => ({
    column: shortened(columns.columnFor(field) ?? field),
    text: '',
    value,
    cells,
  }));
  const skipped = columns.skippedCells();
  const unnamed = skipped.filter(({ column }) => column === null);
  const heading = used.find(([, { is }]) => is === 'heading');
  const sentences = [
    charset && charset !== 'utf-8' && `The file was read as ${charset}.`,
    endsOpen && 'Its last line has no line break: if the file was cut off, its last cell is incomplete.',
    preset && `Looks like an export of ${presetLabel(preset)}.`,
    sheet?.others.length &&
      `Only the sheet “${shortened(sheet.name)}” was imported, not ${quoted(sheet.others)}.`,
    heading && `The file has no titles, so the first line of “${heading[0]}” is the title.`,
    order && `Dates are ${order === 'dmy' ? 'day/month/year' : 'month/day/year'}.`,
    columns.hasInvertedNames() && 'Names are “Last, First”.',
    ...values.map(([name, texts]) => describeValues(name, texts)),
    ...describePeople(people),
    ...unstated.map(
      ({ column, value, cells }) =>
        `${cells} ${cells === 1 ? 'row states' : 'rows state'} no “${column}”, so it is \`${value}\`.`,
    ),
    ...unknownValues.map(([name, texts]) => `Unknown in “${name}”: ${quoted(texts)}.`),
    unknown.length > 0 && `Skipped ${quoted(unknown.map(([name]) => name))}.`,
    ...unnamed.slice(0, maxNamed).map(describeSkipped),
    unnamed.length > maxNamed && `Skipped ${unnamed.length - maxNamed} more lines or columns.`,
  ];
  return {
    columns: Object.fromEntries(used.map(([name, column]) => [name, targetOf(column)])),
    ignored_columns: recognized.filter(([, { is }]) => is === 'ignored').map(([name]) => name),
    skipped_cells: skipped,
    unknown_columns: Object.fromEntries(unknown),
    values: Object.fromEntries(values.map(([name, texts]) => [name, Object.fromEntries(texts)])),
    readings: [
      ...readings.map(({ column, text, value, cells }) => ({ column, text, value: String(value), cells })),
      ...unstated,
    ],
    unknown_people: [...people],
    unknown_values: Object.fromEntries(unknownValues),
    choices: Object.fromEntries(
      [...columns.choices]
        .filter(([name]) => withValues.has(name))
        .map(([name, all]) => [shortened(name), all]),
    ),
    preset,
    date_order: order,
    ...describeTable(header),
    charset: charset ?? null,
    explanation: sentences.filter(Boolean).join(' '),
  };
}

const quoted = (names: readonly string[]) =>
  joinWords([
    ...names.slice(0, maxNamed).map((name) => `“${shortened(name)}”`),
    ...(names.length > maxNamed ? [`${names.length - maxNamed} more`] : []),
  ]);

const outcomes = {
  failed: 'Not found',
  left_empty: 'Left out, because nobody was found',
  created: 'Created as placeholders',
};

const describePeople = (people: ImportSummary['unknown_people']) =>
  [...Map.groupBy(people, ({ result }) => result)].map(
    ([result, some]) => `${outcomes[result]}: ${quoted(some.map(({ text }) => text))}.`,
  );

/** A line above the header, or a column without a name. */
const describeSkipped = ({ position, line, cells, reason }: SkippedCells) =>
  position === undefined
    ? `Skipped line ${line}. ${reason}`
    : `Skipped ${cells} ${cells === 1 ? 'cell' : 'cells'}, the first on line ${line}. ${reason}`;

/** `Status`: “To Do” is `open`. */
const describeValues = (name: string, texts: Map<string, string>) =>
  `In “${name}”, ${joinWords(
    [...texts]
      .slice(0, maxNamed)
      .map(([text, value]) => `“${text}” is ${value === '' ? 'left empty' : `\`${value}\``}`),
  )}${texts.size > maxNamed ? ', …' : ''}.`;
