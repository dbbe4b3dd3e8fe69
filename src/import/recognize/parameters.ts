import { invalidParameter, Problem } from '../../core/errors.ts';
import { fold, joinWords, nearest, shortened } from '../../core/text.ts';
import { isFilled } from '../../formats/rows.ts';
import type { DateOrder } from '../languages/dates.ts';
import { created, peopleIn, placeholderKey } from '../references/people.ts';
import type { ImportQuery } from '../schema.ts';
import { inReadingOrder, type TableColumn } from './evidence.ts';
import { normalizeColumnName, normalizeName, normalizeWord } from './names.ts';
import type { PresetName } from './presets.ts';
import { readScale, type Scale } from './scales.ts';

/** What a request states about the columns and values of its file. */
export type Recognition = {
  /** Fields by column. */
  map: ReadonlyMap<string, string>;
  map_values: ByColumn<ValueMap>;
  scales: ByColumn<Scale>;
  preset?: PresetName | 'none' | undefined;
  unknown_columns?: 'skip' | 'attributes' | 'reject' | undefined;
  date_order?: DateOrder | undefined;
  header_row?: number | undefined;
  /** Values for fields that a row has no value for. */
  set?: ReadonlyMap<string, string>;
  /** Whether columns and texts may be missing in the file, as with a saved mapping. */
  isLenient?: boolean;
  /** The time zone of the organization. */
  time_zone: string;
};

type Stated = { [Parameter in keyof ImportQuery]: ImportQuery[Parameter] | undefined };

/** Parses what a request states about the columns and values of its file. */
export const readRecognition = (
  {
    map = [],
    map_values = [],
    scales = [],
    set = [],
    mapping,
    unknown_columns,
    preset,
    date_order,
    header_row,
  }: Stated,
  time_zone: string,
): Recognition => ({
  map: readMap(map),
  map_values: readValueMap(map_values),
  scales: readScales(scales),
  set: readConstants(set),
  isLenient: mapping !== undefined,
  unknown_columns,
  preset,
  date_order,
  header_row,
  time_zone,
});

/** Parses the `map` parameter: pairs such as `Full name=name`. */
function readMap(pieces: readonly string[]): Map<string, string> {
  const hint = 'Write `column=field`, or `column=` to ignore the column.';
  return new Map(
    readPairs('map', pieces, hint).map(([name, field]) => [normalizeColumnName(name), field] as const),
  );
}

/** What the request states about columns: by the normalized name of a column or field, with the name as it was sent. */
type ByColumn<T> = ReadonlyMap<string, { column: string; stated: T }>;

/** The values of texts, by normalized text. */
type ValueMap = Map<string, { text: string; value: string }>;

/** Parses the `map_values` parameter: pairs such as `Status:In review=in_progress`, by column or field, then by text. */
function readValueMap(pieces: readonly string[]): ByColumn<ValueMap> {
  const hint = 'Write `column:text=value`.';
  const maps = new Map<string, { column: string; stated: ValueMap }>();
  for (const [key, value] of readPairs('map_values', pieces, hint)) {
    const at = key.indexOf(':');
    if (at === -1) throw invalidParameter('map_values', `“${key}” names no column. ${hint}`);
    const [column, text] = [key.slice(0, at), key.slice(at + 1).trim()];
    const map = maps.get(normalizeName(column)) ?? { column, stated: new Map() };
    map.stated.set(normalizeWord(text), { text, value });
    maps.set(normalizeName(column), map);
  }
  return maps;
}

/** Parses the `scales` parameter: pairs such as `Impact=1-10`, by column or field. */
function readScales(pieces: readonly string[]): ByColumn<Scale> {
  const pairs = readPairs('scales', pieces, 'Write `column=scale`, such as `Impact=1-10`.');
  return new Map(
    pairs.map(([column, text]) => [normalizeName(column), { column, stated: readScale(column, text) }]),
  );
}

/** Parses the `set` parameter: pairs such as `raised_on:2026-01-01`, by field. A piece without a field belongs to the last. */
function readConstants(pieces: readonly string[]): Map<string, string> {
  const constants = new Map<string, string>();
  let field: string | undefined;
  for (const piece of pieces) {
    const [, name, value = ''] = /^\s*([a-z][a-z_]*(?:\.[^:]*[^:\s])?)\s*:(.*)$/is.exec(piece) ?? [];
    if (name !== undefined) {
      field = name;
      constants.set(name, value.trim());
    } else if (field !== undefined) constants.set(field, `${constants.get(field)}, ${piece.trim()}`);
    else throw invalidParameter('set', `“${shortened(piece)}” names no field. Write \`field:value\`.`);
  }
  return constants;
}

/** The people whom `map_values` creates as placeholders, by the key of a placeholder. */
export const createdPeople = ({ map_values }: Recognition): Set<string> =>
  new Set(
    [...map_values].flatMap(([key, { stated }]) =>
      key === 'project' ? [] : createdIn(stated).map(placeholderKey),
    ),
  );

/** Whether `map_values` creates projects. */
export const createsProjects = ({ map_values }: Recognition): boolean =>
  createdIn(map_values.get('project')?.stated).length > 0;

const createdIn = (stated: ValueMap = new Map()): string[] =>
  [...stated.values()].flatMap(({ text, value }) => (value === created ? text : []));

/** What the request states about a column. Its name takes precedence over its field. */
export const statedFor = <T>(all: ByColumn<T>, name: string, field: string): T[] =>
  [field, name].flatMap((key) => all.get(normalizeName(key))?.stated ?? []);

/** The positions of columns by their names and fields, each normalized once: names can be long, and keys many. */
function positionsByName(table: readonly TableColumn[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [i, { name, column }] of table.entries())
    for (const key of new Set(
      [name, column.field, column.is === 'project' ? column.is : name].map(normalizeName),
    ))
      positions.set(key, [...(positions.get(key) ?? []), i]);
  return positions;
}

/** Rejects `scales` and `map_values` for columns that the file does not have, or that have no scale or no values. */
export function rejectUnknownColumns(
  parameter: 'scales' | 'map_values',
  all: ByColumn<unknown>,
  table: readonly TableColumn[],
  applies: (entry: TableColumn) => boolean,
): void {
  const positions = positionsByName(table);
  for (const [key, { column }] of all) {
    const entries = (positions.get(key) ?? []).map((i) => table[i] as TableColumn);
    if (entries.some(applies)) continue;
    const exists = entries.length > 0;
    const kind = parameter === 'scales' ? 'ratings' : 'values or people to choose from';
    const why = exists ? `which has no ${kind}` : 'which is not in the file';
    const names = table.filter((entry) => entry.name !== '' && applies(entry)).map(({ name }) => name);
    throw unknownName(parameter, `names the column “${shortened(column)}”, ${why}`, column, names, 'columns');
  }
}

/** Finds out whether the texts of `map_values` occur in the file. Call `settle` after the last row. */
export function createValueMapCheck(all: ByColumn<ValueMap>, table: readonly TableColumn[]) {
  const positions = positionsByName(table);
  const checks = [...all].map(([key, { column, stated }]) => ({
    column,
    at: positions.get(key) ?? [],
    unused: new Map(stated),
    texts: new Set<string>(),
  }));
  return {
    observe(cells: readonly unknown[]): void {
      for (const { at, unused, texts } of checks) {
        for (const i of unused.size === 0 ? [] : at) {
          if (!isFilled(cells[i])) continue;
          const text = String(cells[i]).trim();
          unused.delete(normalizeWord(text));
          if (table[i]?.column.is !== 'field')
            for (const person of [inReadingOrder(text), ...peopleIn(text)])
              unused.delete(normalizeWord(person));
          if (texts.size < maxNamed) texts.add(text);
        }
      }
    },
    settle(): void {
      for (const { column, unused, texts } of checks) {
        for (const { text } of unused.values()) {
          const what = `names the text “${shortened(text)}”, which the column “${shortened(column)}” does not contain`;
          throw unknownName('map_values', what, text, [...texts], 'texts');
        }
      }
    },
  };
}

const maxNamed = 50;

/** 400 that lists what exists, and first what was probably meant. */
export function unknownName(
  parameter: string,
  what: string,
  name: string,
  known: readonly string[],
  kind: 'columns' | 'texts',
): Problem {
  const folded = new Map(known.map((one) => [fold(one.slice(0, 100)), one]));
  const near = folded.get(nearest(name.slice(0, 100), [...folded.keys()]) ?? '');
  const list = joinWords(known.slice(0, maxNamed).map((one) => `“${shortened(one)}”`));
  const detail =
    `\`${parameter}\` ${what}. ${near === undefined ? '' : `Did you mean “${shortened(near)}”? `}` +
    (known.length === 0 ? `There are no such ${kind}.` : `Its ${kind} are ${list}.`);
  return invalidParameter(parameter, detail);
}

export function unknownField(
  parameter: 'map' | 'set',
  name: string,
  field: string,
  fields: readonly string[],
): Problem {
  const suggestion = nearest(field, fields);
  const what = parameter === 'map' ? `assigns “${shortened(name)}” to` : 'names';
  const detail = `\`${parameter}\` ${what} \`${shortened(field)}\`, which is not a field. ${
    suggestion ? `Did you mean \`${suggestion}\`?` : `Fields are ${joinWords(fields)}.`
  }`;
  return new Problem('invalid_parameter', detail, {
    errors: [{ parameter, code: 'unknown_field', detail }],
  });
}

/**
 * Parses pairs. The text before the last `=` can contain `=`, and also commas, at which the list was split: a piece
 * without `=` belongs to the next piece.
 */
function readPairs(parameter: string, pieces: readonly string[], hint: string): [string, string][] {
  const pairs: [string, string][] = [];
  let unfinished = '';
  for (const piece of pieces) {
    const pair = unfinished + piece;
    const at = piece.includes('=') ? pair.lastIndexOf('=') : -1;
    unfinished = at === -1 ? `${pair},` : '';
    if (at !== -1) pairs.push([pair.slice(0, at).trim(), pair.slice(at + 1).trim()]);
  }
  if (unfinished === '') return pairs;
  const what = { map: 'field', map_values: 'value', scales: 'scale' }[parameter];
  const detail = `\`${parameter}\` has no ${what} for “${unfinished.slice(0, -1).trim()}”. ${hint}`;
  throw invalidParameter(parameter, detail);
}
