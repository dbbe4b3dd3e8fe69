import { attributesLimit } from '../../core/schemas.ts';
import { joinWords, nearest, shortened } from '../../core/text.ts';
import { isFilled, type Row } from '../../formats/rows.ts';
import type { Importable } from '../importable.ts';
import { assignPeople, created } from '../references/people.ts';
import { attributeColumn, type Column, ignored, type Known, knownColumns } from './catalogue.ts';
import { createEvidence, type TableColumn } from './evidence.ts';
import {
  invalidColumns,
  looksLikeStatus,
  minClear,
  mostlyUnknown,
  noHeader,
  resolveCollisions,
  unclearColumn,
  useHeading,
} from './header.ts';
import { maxLength, nameForms, normalizeColumnName, normalizeName, normalizeWord } from './names.ts';
import {
  createValueMapCheck,
  type Recognition,
  rejectUnknownColumns,
  statedFor,
  unknownField,
} from './parameters.ts';
import { detectPreset, type PresetName, presetField, presetLabel, unclearWords } from './presets.ts';
import { createSkippedCells, unnamed, whyNotStored } from './skipped.ts';
import { archivedReader, choicesOf, ratingsOf, valueReader, withoutWords } from './values.ts';

export type Columns = ReturnType<typeof createColumns>;

const maxSuggestions = 1000;
const maxHints = 50;

/** The numbers of texts that are reported for a column: with the value they are read as, and without one. */
const maxReadings = 1000;
const maxUnknownTexts = 50;

/** A text that is read as another value; of dates, the first one in each notation. */
type Reading = { text: string; value: unknown; cells: number; isDate: boolean };

/** Recognizes the columns of a file by their names, by the tool that wrote it, or by the `map` parameter. */
export function createColumns(importable: Importable, recognition: Recognition) {
  const { map, map_values, scales, set = new Map(), unknown_columns: policy, isLenient } = recognition;
  const known = knownColumns(importable);
  const fields = [...new Set([...known.values()].map(({ column }) => column.field))].filter(Boolean);
  const columnNamed = (field: string): Column | undefined =>
    field === '' ? ignored : (attributeColumn(importable, field) ?? known.get(normalizeName(field))?.column);
  const mapped = new Map(
    [...map].map(([name, field]) => {
      const column = columnNamed(field);
      if (!column) throw unknownField('map', name, field, fields);
      return [name, { column, rank: -2 }] as const;
    }),
  );
  const constants: TableColumn[] = [...set].map(([field]) => {
    const column = field === '' ? undefined : columnNamed(field);
    if (!column || column.is === 'ignored' || column.is === 'computed' || column.is === 'identity')
      throw unknownField('set', field, field, fields);
    return { name: field, column, hints: { time_zone: recognition.time_zone }, assigned: new Map() };
  });
  const hasAttributes = 'attributes' in importable.patch.properties;
  const recognized = new Map<string, Column>();
  const columnsByField = new Map<string, string>();
  /** Why columns were left out, by name. */
  const unknown = new Map<string, string>();
  const readings = new Map<string, Map<string, Reading>>();
  const unknownValues = new Map<string, Set<string>>();
  const choices = new Map<string, string[]>();
  const allColumns = `Known columns are ${joinWords(fields)}. `;
  const suggestions = new Map<string, string | undefined>();
  /** A file can have millions of unknown names, so only the first thousand get a suggestion. */
  const suggestField = (name: string) => {
    if (!suggestions.has(name) && suggestions.size < maxSuggestions)
      suggestions.set(name, known.get(nearest(normalizeName(name), [...known.keys()]) ?? '')?.column.field);
    return suggestions.get(name);
  };

  function explainUnknown(name: string, isFirst: boolean): string {
    const shown = shortened(name);
    const field = suggestField(shown);
    return (
      `Unknown column “${shown}”. ${field ? `Did you mean \`${field}\`? ` : ''}` +
      `${isFirst ? allColumns : ''}Use \`map\` to assign it to a field, ` +
      `${hasAttributes ? `store it as an attribute (\`${shown}=attributes.${shown}\`), ` : ''}` +
      `or ignore it (\`${shown}=\`).`
    );
  }

  function recognize(name: string, column: Column): void {
    if (recognized.has(name)) return;
    recognized.set(name, column);
    if (!columnsByField.has(column.field)) columnsByField.set(column.field, name);
  }

  /** An unknown column of the file becomes an attribute or is skipped, as the request chooses. */
  function unknownColumn(name: string, attributes: number): Column | undefined {
    // JSON bodies must not contain `__proto__`, so it is no name for an attribute.
    const canBeAttribute = hasAttributes && attributes < attributesLimit && name !== '__proto__';
    if (policy === 'attributes' && canBeAttribute)
      return attributeColumn(importable, `attributes.${name.slice(0, 200).replace(/\s+/g, ' ')}`);
    return policy === 'reject' ? undefined : ignored;
  }

  /** Returns a function that records each text of a column that is read as another value. */
  const recorderOf = (name: string) => (text: string, value: unknown, notation?: string) => {
    if (value === undefined) {
      const unknown = unknownValues.get(name) ?? new Set<string>();
      if (text.length <= maxLength && unknown.size < maxUnknownTexts)
        unknownValues.set(name, unknown.add(text));
      return;
    }
    const known = readings.get(name) ?? new Map<string, Reading>();
    readings.set(name, known);
    const key = notation ?? text;
    const reading = known.get(key) ?? { text, value, cells: 0, isDate: notation !== undefined };
    reading.cells++;
    if (known.size < maxReadings) known.set(key, reading);
  };

  function bindReader(entry: TableColumn): void {
    if (entry.column.is === 'archived') {
      const status = importable.archivedStatus?.(undefined);
      entry.column = {
        ...entry.column,
        read: archivedReader(entry.column.says, entry.hints, recorderOf(entry.name), status),
      };
    }
    if (!hasValues(entry) || entry.column.read) return;
    const { column, name, hints } = entry;
    const assigned = new Map(
      statedFor(map_values, name, column.is === 'project' ? 'project' : column.field).flatMap((texts) =>
        [...texts].map(([text, { value }]) => [text, value] as const),
      ),
    );
    entry.assigned = assigned;
    const record = recorderOf(name);
    if (column.is === 'project') {
      const readProject = (cell: unknown) => {
        const text = String(cell ?? '').trim();
        const project = assigned.get(normalizeWord(text));
        if (project && project !== created) record(text, project);
        return project ?? cell;
      };
      if (assigned.size > 0) entry.column = { ...column, read: readProject };
      return;
    }
    if (column.is !== 'field') {
      if (assigned.size > 0)
        entry.column = { ...column, read: (cell) => assignPeople(cell, assigned, record) };
      return;
    }
    const accepted = choicesOf(column.property);
    if (accepted) choices.set(name, accepted);
    const {
      values: words = {},
      interpret = {},
      unclearNumbers: { [column.field]: unclear = [] } = {},
      ownWords: { [column.field]: own } = {},
    } = importable;
    const forms = nameForms(name, importable.what);
    const isUnclear = forms.some((form) => unclear.includes(form));
    const hasOwnWords = own?.columns.split(',').some((column) => forms.includes(normalizeName(column)));
    const ofTool = unclearWords(preset, column.field);
    const usual = withoutWords(
      words[column.field],
      (text) => (isUnclear && /^\d+$/.test(text)) || ofTool.includes(text),
    );
    const read = valueReader(column.property, {
      words: hasOwnWords ? own?.words : usual,
      interpret: interpret[column.field],
      assigned,
      hints,
      record,
    });
    entry.column = { ...column, read };
  }

  let preset: PresetName | undefined;
  let table: TableColumn[] = [];
  let evidence: ReturnType<typeof createEvidence> | undefined;
  let valueMapCheck: ReturnType<typeof createValueMapCheck> | undefined;
  const skipped = createSkippedCells();
  let hasInvertedNames = false;

  /** The best match of a column name. */
  function match(name: string): Known | undefined {
    const byMap = mapped.get(normalizeColumnName(name));
    if (byMap) return byMap;
    const field = presetField(preset, name);
    if (field === 'project' && importable.project) return { column: ignored, rank: -1 };
    if ((field === 'archived' || field === 'current') && importable.archivedStatus)
      return { column: { is: 'archived', field: 'status', says: field }, rank: -1 };
    const byPreset = field === undefined ? undefined : columnNamed(field);
    if (byPreset) return { column: byPreset, rank: -1 };
    const attribute = attributeColumn(importable, name);
    if (attribute) return { column: attribute, rank: 0 };
    // `created_at` is when the service stored an item, `Created at` when another tool did.
    const isOfTool = name !== 'created_at' && normalizeName(name) === 'createdat';
    const raised = isOfTool ? columnNamed('raised_on') : undefined;
    if (raised) return { column: raised, rank: 2 };
    for (const [i, form] of nameForms(name, importable.what).entries()) {
      const found = known.get(form);
      if (found) return { ...found, rank: found.rank + 2 * i };
    }
    return undefined;
  }

  return {
    recognized,
    /** The texts that are read as other values, by column. */
    readings,
    /** The texts that no value was found for, by column. */
    unknownValues,
    /** The values that the field of a column accepts, if it accepts only some. */
    choices,
    unknown,
    /** The values for fields that a row has no value for. */
    constants: () => constants.map(({ name, column }) => ({ column, text: set.get(name) ?? '' })),
    preset: () => preset,
    hasInvertedNames: () => hasInvertedNames,
    /** The columns of a table, by position. */
    table: () => table.map(({ column }) => column),
    /** Where the order of day and month was decided by the file. */
    dateOrder: () => table.find(({ hints }) => hints.order)?.hints.order,
    /** The name of the column that holds this field. */
    columnFor: (field: string) => (field === '' ? undefined : columnsByField.get(field)),
    /** An error message for an unknown column. The first of several also lists the known columns. */
    explainUnknown,

    /** The column of a JSON member; undefined if it is unknown. Members have no variants of names. */
    find(name: string): Column | undefined {
      const column =
        recognized.get(name) ??
        mapped.get(normalizeColumnName(name))?.column ??
        attributeColumn(importable, name) ??
        known.get(normalizeName(name))?.column ??
        (policy === undefined ? undefined : unknownColumn(name, 0));
      if (column) recognize(name, column);
      return column;
    },

    /** Matches the columns of a table. Rejects a table without a column that every new resource needs. */
    setHeader({ names, titles = [] }: Row, mode: string): void {
      preset = recognition.preset === 'none' ? undefined : (recognition.preset ?? detectPreset(names));
      const found = names.map((name) => (name === '' ? undefined : match(name)));
      const { freeText = {} } = importable;
      const alternative = ({ field }: Column) => columnNamed(freeText[field] ?? 'none');
      const errors = resolveCollisions(names, found, unknown, alternative);
      useHeading(importable, names, found, mode);
      if (found.every((one) => one === undefined || one.column.is === 'ignored'))
        throw invalidColumns(names, found, [noHeader(importable, names)]);
      // Whoever has left would arrive as active, and what is done as open.
      const hasStatus = !('status' in importable.patch.properties) || isStated('status', found);
      const mayBeStatus = (name: string) => !hasStatus && policy === undefined && looksLikeStatus(name);
      const decided = new Set(['', ...unknown.keys(), ...names.filter((_, i) => found[i])]);
      const named = names.filter((name) => name !== '');
      const unknownNames = named.filter((name) => !decided.has(name));
      const isMostlyUnknown =
        2 * unknownNames.length > named.length && named.length - unknownNames.length < minClear;
      if (policy === undefined && !preset && isMostlyUnknown) errors.push(mostlyUnknown(unknownNames, names));
      const attributes = new Set(
        found.flatMap((one) => (one?.column.is === 'attribute' ? [one.column.name] : [])),
      );
      table = names.map((name, i) => {
        const entry = { name, hints: { time_zone: recognition.time_zone }, assigned: new Map() };
        if (name === '') return { ...entry, column: ignored, skipped: unnamed(i) };
        if (found[i]) {
          const { column, rank } = found[i];
          // The keys of Jira begin with those of projects.
          const isKey = column.field === 'external_id' && normalizeName(name) === 'issuekey';
          const isOfOneProject = rank > -2 && importable.project !== undefined && isKey;
          return { ...entry, column, ...whyExcluded(found[i]), ...(isOfOneProject && { isOfOneProject }) };
        }
        const column = unknownColumn(name, attributes.size);
        if (mayBeStatus(name)) errors.push(unclearColumn(name));
        if (column === undefined) {
          const detail = explainUnknown(name, errors.length === 0);
          errors.push({ column: shortened(name), code: 'unknown_column', detail });
        }
        if (column?.is === 'attribute' && !attributes.has(column.name)) {
          attributes.add(column.name);
          return { ...entry, column };
        }
        const isRepeated = column?.is === 'attribute' || names.some((other, j) => other === name && found[j]);
        if (!isRepeated && !unknown.has(name)) unknown.set(name, hintFor(name));
        const reason = isRepeated ? 'An earlier column has the same name.' : unknown.get(name);
        return { ...entry, column: ignored, skipped: reason || noField };
      });
      const required = mode === 'create' ? ((importable.input.required as string[] | undefined) ?? []) : [];
      const hasColumn = (field: string) =>
        [...table, ...constants].some(({ column }) => column.field === field);
      for (const field of required.filter((field) => !hasColumn(field))) {
        const detail = `No column maps to the required field \`${field}\`. Add the column, or assign one with \`map\`.`;
        errors.push({ code: 'missing_column', detail });
      }
      if (importable.across && ![...table, ...constants].some(({ column }) => column.is === 'project')) {
        const detail =
          'No column names the project of each row. Add the column `project`, or assign one with `map`.';
        errors.push({ code: 'missing_column', detail });
      }
      if (errors.length > 0) throw invalidColumns(names, found, errors);
      if (!isLenient) {
        rejectUnknownColumns('map_values', map_values, table, hasValues);
        rejectUnknownColumns('scales', scales, table, isRating);
        valueMapCheck = createValueMapCheck(map_values, table);
      }
      table.forEach(bindReader);
      constants.forEach(bindReader);
      evidence = createEvidence(importable, table);
      skipped.setTable(table, titles);
    },

    observe({ cells, line }: Row): void {
      evidence?.observe(cells, line);
      valueMapCheck?.observe(cells);
      skipped.observe(cells, line);
    },

    /** Counts the members of a JSON object that are not stored. */
    observeMembers({ names, cells, line }: Row): void {
      for (const [i, name] of names.entries()) {
        const column = isFilled(cells[i]) ? this.find(name) : undefined;
        const reason = column && whyNotStored(column);
        if (!reason) continue;
        const found = mapped.get(normalizeColumnName(name)) ?? known.get(normalizeName(name));
        skipped.addMember(name, found ? (whyExcluded(found).skipped ?? reason) : noField, line);
      }
    },

    /** Counts the cells of a row that is no data. */
    skipRow: ({ line, cells }: Row, reason: string) => skipped.addRow(line, cells, reason),
    skippedCells: skipped.all,
    /** The column of a field, to explain its errors. */
    describe(field: string) {
      const { name = field, column, hints } = table.find(({ column }) => column.field === field) ?? {};
      return { column: name, property: column?.is === 'field' ? column.property : {}, scale: hints?.scale };
    },

    /** Forgets the texts that were read: the rows are parsed again, each once. */
    startCounting(): void {
      readings.clear();
      unknownValues.clear();
    },

    /** Decides what only the whole file shows. Call it after the last row was observed. */
    settle(): void {
      if (!evidence) return;
      valueMapCheck?.settle();
      const scaleFor = ({ name, column }: TableColumn) => statedFor(scales, name, column.field).at(-1);
      hasInvertedNames = evidence.settle(recognition.date_order, scaleFor).hasInvertedNames;
      for (const entry of table) {
        bindReader(entry);
        if (entry.name !== '' && !unknown.has(entry.name)) recognize(entry.name, entry.column);
      }
    },
  };

  function isStated(field: string, found: readonly (Known | undefined)[]): boolean {
    return set.has(field) || found.some((one) => one?.column.field === field);
  }

  /** Why `map` or the preset leaves out a column. */
  function whyExcluded({ column, rank }: Known): { skipped?: string } {
    if (column.is !== 'ignored') return {};
    if (rank === -2) return { skipped: '`map` leaves it out.' };
    if (rank === -1 && preset) return { skipped: `In exports of ${presetLabel(preset)}, it is not needed.` };
    return {};
  }

  /** Names the field that an unknown column may have been meant for. Comparing names takes long, so only a few get one. */
  function hintFor(name: string): string {
    if (unknown.size >= maxHints) return '';
    const field = suggestField(shortened(name));
    return field ? `Did you mean \`${field}\`?` : '';
  }
}

const noField = 'No field has this name.';

/** Whether texts of a column can be assigned to values, to people or to projects. */
const hasValues = (entry: TableColumn): entry is TableColumn & { column: ValueColumn } =>
  ['field', 'reference', 'name', 'project'].includes(entry.column.is);

type ValueColumn = Extract<Column, { is: 'field' | 'reference' | 'name' | 'project' }>;

const isRating = ({ column }: TableColumn) =>
  column.is === 'field' && ratingsOf(column.property) !== undefined;
