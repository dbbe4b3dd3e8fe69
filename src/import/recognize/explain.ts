import { joinWords, shortened } from '../../core/text.ts';
import { describeTable } from '../layout/describe.ts';
import type { FileScan } from '../scan.ts';
import type { ImportSummary } from '../schema.ts';
import { targetOf } from './catalogue.ts';
import { presetLabel } from './presets.ts';
import type { SkippedCells } from './skipped.ts';

/** The number of columns or texts that the explanation names. */
const maxNamed = 10;

/** The part of the summary that reports how the columns and values of a file were understood. */
export function explainRecognition(
  { columns, header, charset }: FileScan,
  people: ImportSummary['unknown_people'],
  /** The texts that say that there is nobody, by column. */
  nobody: Readonly<Record<string, readonly string[]>>,
) {
  const { sheet } = header ?? {};
  const recognized = [...columns.recognized].map(([name, column]) => [shortened(name), column] as const);
  const used = recognized.filter(([, { is }]) => is !== 'ignored');
  const preset = columns.preset() ?? null;
  const order = columns.dateOrder() ?? null;
  const unknown = [...columns.unknown].map(([name, hint]) => [shortened(name), hint] as const);
  const allValues = new Map([...columns.values].map(([name, texts]) => [name, new Map(texts)]));
  for (const [name, texts] of Object.entries(nobody)) {
    const ofColumn = allValues.get(name) ?? new Map<string, unknown>();
    for (const text of texts) ofColumn.set(text, null);
    allValues.set(name, ofColumn);
  }
  const values = [...allValues].map(
    ([name, texts]) =>
      [shortened(name), new Map([...texts].map(([text, value]) => [text, String(value)]))] as const,
  );
  const unknownValues = [...columns.unknownValues].map(([name, texts]): [string, string[]] => [
    shortened(name),
    [...texts],
  ]);
  const hasValues = (name: string) => columns.values.has(name) || columns.unknownValues.has(name);
  const skipped = columns.skippedCells();
  const unnamed = skipped.filter(({ column }) => column === null);
  const heading = used.find(([, { is }]) => is === 'heading');
  const sentences = [
    charset && charset !== 'utf-8' && `The file was read as ${charset}.`,
    preset && `Looks like an export of ${presetLabel(preset)}.`,
    sheet?.others.length &&
      `Only the sheet “${shortened(sheet.name)}” was imported, not ${quoted(sheet.others)}.`,
    heading && `The file has no titles, so the first line of “${heading[0]}” is the title.`,
    order && `Dates are ${order === 'dmy' ? 'day/month/year' : 'month/day/year'}.`,
    columns.hasInvertedNames() && 'Names are “Last, First”.',
    ...values.map(([name, texts]) => describeValues(name, texts)),
    ...describePeople(people),
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
    unknown_people: [...people],
    unknown_values: Object.fromEntries(unknownValues),
    choices: Object.fromEntries(
      [...columns.choices].filter(([name]) => hasValues(name)).map(([name, all]) => [shortened(name), all]),
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
