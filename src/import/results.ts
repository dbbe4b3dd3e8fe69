import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type FieldError, fieldError, type Problem } from '../core/errors.ts';
import { shortened } from '../core/text.ts';
import { cellReader, writeCell } from '../formats/cells.ts';
import { createPacer } from '../formats/pace.ts';
import type { Row } from '../formats/rows.ts';
import type { Importable, Resource } from './importable.ts';
import type { ParsedRow } from './parse-rows.ts';
import type { Column } from './recognize/catalogue.ts';
import type { Columns } from './recognize/columns.ts';
import { commonName, type PeoplePolicy, placeholderKey } from './references/people.ts';
import type { Resolved } from './references/resolve.ts';
import type { ImportResult, ImportSummary } from './schema.ts';

/** The result of a row, without its line. */
export type Written = Omit<ImportResult, 'line'>;

export const failed = (errors: readonly FieldError[]): Written => ({ status: 'failed', errors: [...errors] });

export const failedFor = ({ errors, code, message }: Problem) =>
  failed(errors ?? [{ code, detail: message }]);

/** Whoever has the value of a row may get another one by a later row. */
export function failedUpdate(problem: Problem): Written {
  const { errors = [] } = failedFor(problem);
  const advised = errors.map((error) => {
    const field = error.pointer?.slice('#/'.length);
    const advice = `If another row changes that one, import the file again. If two rows swap theirs, import one of them with an empty \`${field}\` first.`;
    return error.code === 'duplicate' ? { ...error, detail: `${error.detail} ${advice}` } : error;
  });
  return failed(advised);
}

/** The result of a row of a project that the request leaves out. */
export const leftOut = (project = ''): Written => ({
  status: 'skipped',
  warnings: [fieldError('project', 'left_out', `The rows of “${shortened(project)}” are left out.`)],
});

/** A warning about a value that `complete` added. */
export const completed = (field: string, patch: Resource, given: Resource): FieldError =>
  fieldError(
    field,
    'completed',
    `The status \`${given.status}\` needs more than the row contains, so \`${field}\` is “${patch[field]}”.`,
  );

/** A warning about a value that `defaults` added. */
export const assumed = (field: string, value: unknown): FieldError =>
  fieldError(
    field,
    'completed',
    `The row has no \`${field}\`, so it is ${value}, which is not after the due date.`,
  );

/** A warning about a reason in a row that changes nothing that exists. */
export const unusedReason = ({ values: { reason } }: ParsedRow): FieldError[] =>
  reason == null
    ? []
    : [
        fieldError(
          'reason',
          'not_used',
          `Only a change has a reason. “${shortened(String(reason))}” was not used.`,
        ),
      ];

const blockRows = 500;
const maxRanges = 100;

type Status = ImportResult['status'];

type StoredResults = {
  counts: Record<Status, number>;
  packed: string[];
  people?: PeopleFound;
  assumed?: Assumed;
};

/** How many rows got a value that they do not state, by field. */
type Assumed = Record<string, { value: string; cells: number }>;

/** The texts in columns for people that matched nobody, and those that say that there is nobody, each by column. */
type PeopleFound = {
  unknown: Record<string, ImportSummary['unknown_people'][number]>;
  nobody: Record<string, Record<string, number>>;
};

/** The keys of those whom some rows have brought, those among them who are back, and the ids of incomplete rows. */
export type Recorded = {
  keys: string[];
  returned: NonNullable<ImportSummary['returned']>;
  incomplete: string[];
};

/** A row about somebody whom a sync activates again has updated them. */
export const withReturns =
  (recorded: Recorded | undefined) =>
  <Row extends { written: Written }>(row: Row): Row => {
    const { id, changed = [] } = row.written;
    if (!recorded?.returned.some((one) => one.id === id)) return row;
    return { ...row, written: { ...row.written, status: 'updated', changed: [...changed, 'status'] } };
  };

const maxPeople = 1000;

/**
 * The results of all rows in the order of the file, although rows finish in any order. Each completed block of rows is
 * compressed, because the results of 100,000 rows are long and repetitive.
 */
export class Results {
  readonly counts: Record<Status, number> = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  // Without a prototype, because a file can also contain the text `__proto__`.
  readonly people: PeopleFound = { unknown: Object.create(null), nobody: Object.create(null) };
  readonly assumed: Assumed = {};
  /** In a sync. */
  readonly recorded: Recorded[] = [];
  readonly #rows: number;
  readonly #open = new Map<number, { texts: string[]; left: number }>();
  readonly #packed: Buffer[] = [];
  /** The line of each imported row; 0 for a row that failed or is not done. */
  readonly #lines: Uint32Array;

  constructor(rows: number) {
    this.#rows = rows;
    this.#lines = new Uint32Array(rows);
  }

  /** Restores results from the output of `toJSON`. */
  static from(stored: Results | StoredResults): Results {
    if (stored instanceof Results) return stored;
    const results = new Results(0);
    Object.assign(results.counts, stored.counts);
    Object.assign(results.people, stored.people);
    Object.assign(results.assumed, stored.assumed);
    // Results that 0.4.0 has stored for an Idempotency-Key do not have the number of cells.
    for (const [column, texts] of Object.entries<unknown>(results.people.nobody))
      if (Array.isArray(texts))
        results.people.nobody[column] = Object.fromEntries(texts.map((text) => [text, 1]));
    results.#packed.push(...stored.packed.map((block) => Buffer.from(block, 'base64')));
    return results;
  }

  toJSON(): StoredResults {
    const packed = this.#packed.map((block) => block.toString('base64'));
    return { counts: this.counts, packed, people: this.people, assumed: this.assumed };
  }

  /** Records the people of a row that were not found. */
  addPeople(
    { line, unknownPeople = [], nobody = [] }: Resolved,
    policyFor: (text: string) => PeoplePolicy,
    columns: Columns,
  ): void {
    for (const { field, text, user_id } of unknownPeople) {
      const policy = policyFor(text);
      const result = ({ error: 'failed', leave_empty: 'left_empty', create: 'created' } as const)[policy];
      const { unknown } = this.people;
      const key = placeholderKey(text);
      if (!unknown[key] && Object.keys(unknown).length >= maxPeople) continue;
      const entry = unknown[key] ?? {
        text: shortened(commonName(text)),
        columns: [],
        cells: 0,
        line,
        result,
      };
      unknown[key] = entry;
      const column = shortened(columns.columnFor(field) ?? field);
      if (!entry.columns.includes(column)) entry.columns.push(column);
      entry.cells++;
      entry.line = Math.min(entry.line, line);
      if (policy === 'create') entry.result = entry.user_id || user_id ? 'created' : 'failed';
      if (user_id) entry.user_id = user_id;
    }
    for (const { field, text } of nobody) {
      const column = columns.columnFor(field) ?? field;
      const texts = this.people.nobody[column] ?? Object.create(null);
      this.people.nobody[column] = texts;
      if (text in texts || Object.keys(texts).length < maxPeople) texts[text] = (texts[text] ?? 0) + 1;
    }
  }

  /** Counts the values that a written row does not state. */
  addAssumed(row: ParsedRow, { status, changed = [] }: Written, { assumed = {} }: Importable): void {
    for (const [field, valueFor] of Object.entries(assumed)) {
      const isNew = status === 'created' || changed.includes(field);
      const value = isNew && row.values[field] == null ? valueFor(row.values) : undefined;
      if (value === undefined) continue;
      this.assumed[field] ??= { value, cells: 0 };
      this.assumed[field].cells++;
    }
  }

  get done(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  set(index: number, result: ImportResult): void {
    this.counts[result.status]++;
    if (result.status !== 'failed' && result.status !== 'skipped') this.#lines[index] = result.line;
    const block = Math.floor(index / blockRows);
    const size = Math.min(blockRows, this.#rows - block * blockRows);
    const open = this.#open.get(block) ?? { texts: [], left: size };
    this.#open.set(block, open);
    open.texts[index % blockRows] = JSON.stringify(result);
    open.left--;
    if (open.left > 0) return;
    this.#packed[block] = deflateRawSync(open.texts.join('\n'), { level: 1 });
    this.#open.delete(block);
  }

  /** The line ranges of the imported rows, such as `2-501, 503`. */
  importedLines(): string {
    const ranges: string[] = [];
    for (let at = 0; at < this.#rows && ranges.length < maxRanges; at++) {
      const first = this.#lines[at];
      if (!first) continue;
      while (this.#lines[at + 1]) at++;
      const last = this.#lines[at];
      ranges.push(first === last ? `${first}` : `${first}-${last}`);
    }
    return ranges.length < maxRanges ? ranges.join(', ') : `${ranges.join(', ')} and more`;
  }

  /** The results as JSON texts, a block at a time. A fast client takes all of them without a pause of its own. */
  async *texts(): AsyncGenerator<string[]> {
    const pause = createPacer();
    for (const block of this.#packed) {
      yield inflateRawSync(block).toString().split('\n');
      await pause();
    }
  }

  /** The results without the rows that changed nothing and of which there is nothing to say. */
  async *textsOfChanged(): AsyncGenerator<string[]> {
    for await (const texts of this.texts()) {
      const isUnchanged = (text: string) => /^\{"line":\d+,"status":"unchanged"/.test(text);
      const changed = texts.filter((text) => !isUnchanged(text) || text.includes('"warnings":['));
      if (changed.length > 0) yield changed;
    }
  }

  /** The results after a rollback: every row that did not fail is skipped. */
  async *textsOfNothing(): AsyncGenerator<string[]> {
    for await (const texts of this.texts()) yield texts.map(toSkippedUnlessFailed);
  }
}

function toSkippedUnlessFailed(text: string): string {
  const { line, status, data } = JSON.parse(text) as ImportResult;
  return status === 'failed' ? text : JSON.stringify({ line, status: 'skipped', data });
}

export function resultOf(
  { line, warnings: found }: ParsedRow,
  written: Written,
  columns: Columns,
  isDryRun: boolean,
): ImportResult {
  if (written.errors)
    return { line, status: written.status, errors: addColumnNames(written.errors, columns) };
  const all = [...found, ...(written.warnings ?? [])];
  const warnings = all.length === 0 ? {} : { warnings: addColumnNames(all, columns) };
  // A dry run rolls back the resources it creates, so their ids mean nothing.
  return isDryRun && written.status === 'created'
    ? { line, status: 'created', ...warnings }
    : { line, ...written, ...warnings };
}

/** The cells of a row as texts, by column: of a repeated column the first. A workbook stores days as numbers. */
export function dataOf({ names, cells }: Row, columns: Columns): Record<string, string> {
  const table = columns.table();
  const textOf = (cell: unknown, column: Column | undefined) =>
    column?.is === 'field' && column.property.format === 'date' && typeof cell === 'number'
      ? cellReader(column.property)(cell)
      : writeCell(cell);
  const data = new Map<string, string>();
  for (const [i, name] of names.entries())
    if (name !== '' && !data.has(name)) data.set(name, String(textOf(cells[i], table[i]) ?? ''));
  return Object.fromEntries(data);
}

/** Adds the name of the column to each error where it differs from the name of the field. */
function addColumnNames(errors: readonly FieldError[], columns: Columns): FieldError[] {
  return errors.map((error) => {
    const [field = ''] = error.pointer?.slice(2).split('/') ?? [];
    const name = columns.columnFor(field);
    return name === undefined || name === field ? error : { ...error, column: shortened(name) };
  });
}
