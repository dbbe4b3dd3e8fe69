import { readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Clock, Moment } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { joinWords } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { asJson } from '../import/import-route.ts';
import type { Importable } from '../import/importable.ts';
import { createLayout } from '../import/layout/layout.ts';
import { withMapping } from '../import/mapping.ts';
import { readRecognition } from '../import/recognize/parameters.ts';
import { presetNames } from '../import/recognize/presets.ts';
import { type ImportJob, runImport, type Store, summaryOf } from '../import/run.ts';
import type { ImportQuery, ImportResult, ImportSummary } from '../import/schema.ts';
import { formatOf, sourceOf } from '../import/source.ts';
import { readSync } from '../import/sync/options.ts';
import { runSync } from '../import/sync/sync.ts';
import { createPlaceholders } from '../resources/personnel/import.ts';
import { importAcrossProjects } from '../resources/project-items/import.ts';
import { getProjectForWriting } from '../resources/projects/queries.ts';
import { syncTargets } from '../resources/sync-targets.ts';
import { byCommandLine } from '../store/writes/change.ts';
import { findTransferable, rejectProject } from './transferable.ts';

export type ImportOptions = {
  project?: string;
  createProjects?: true;
  mode: 'create' | 'upsert' | 'sync';
  source?: string;
  maxLeaving?: number;
  handoverTo?: string;
  atomic?: true;
  dryRun?: true;
  map: string[];
  mapValues: string[];
  scale: string[];
  set: string[];
  mapping?: string;
  unknownColumns?: NonNullable<ImportQuery['unknown_columns']>;
  unknownPeople?: NonNullable<ImportQuery['unknown_people']>;
  preset?: NonNullable<ImportQuery['preset']>;
  dateOrder?: NonNullable<ImportQuery['date_order']>;
  sheet?: string;
  headerRow?: number;
  charset?: string;
};

export type Imported = {
  summary: ImportSummary;
  /** The results of all rows as JSON, in batches. */
  texts: AsyncIterable<string[]>;
  seconds: number;
};

/** Imports a file into the database, with the rules of `POST …/import`. */
export async function importCommand(
  database: Database,
  clock: Clock,
  what: string,
  path: string,
  options: ImportOptions,
  onProgress: (done: number, rows: number) => void,
): Promise<Imported> {
  const { preset } = options;
  if (preset !== undefined && preset !== 'none' && !presetNames.includes(preset))
    throw new UsageError(`“${preset}” is not a preset. Choose from ${joinWords([...presetNames, 'none'])}.`);
  const importable = await findImportable(database, clock(), what, options);
  const file = await readImportFile(path);
  const stated = {
    map: options.map,
    map_values: options.mapValues,
    scales: options.scale,
    set: options.set,
    ...definedOf({
      mapping: options.mapping,
      unknown_columns: options.unknownColumns,
      unknown_people: options.unknownPeople,
      preset,
      date_order: options.dateOrder,
      header_row: options.headerRow,
      sheet: options.sheet,
    }),
  };
  const query = await withMapping(database.db, importable.what, stated, Object.keys(stated));
  const recognition = readRecognition(query, clock().time_zone);
  const { charset } = options;
  const { sheet } = query;
  const layout = createLayout(importable, recognition);
  const job: ImportJob = {
    importable,
    unknownPeople: query.unknown_people,
    createPlaceholders,
    source: sourceOf(formatOf(path, file), file, { charset, sheet, layout }),
    options: {
      mode: options.mode === 'create' ? 'create' : 'upsert',
      atomic: options.atomic ?? false,
      dry_run: options.dryRun ?? false,
    },
    syncTarget: syncTargets[importable.what],
    recognition,
    seesPeople: true,
    change: () => ({ ...byCommandLine(clock()), isImport: true }),
    onProgress,
    started_at: clock().now,
  };
  const start = performance.now();
  const { mode, source, maxLeaving: max_leaving = 5, handoverTo: handover_to } = options;
  const sync = readSync(
    { mode, ...definedOf({ source, max_leaving, handover_to }) },
    byCommandLine(clock()),
    job.options.atomic,
  );
  const store: Store = {
    ...database,
    write: (work) => database.write(work, job.options.atomic ? 'long' : 'bulk'),
  };
  const imported: Awaited<ReturnType<typeof runImport>> &
    Pick<ImportSummary, 'leavers' | 'kept' | 'returned'> = sync
    ? await runSync(store, job, sync)
    : await runImport(store, job);
  const { scan, results, leavers, kept, returned } = imported;
  const synced = leavers && { leavers, kept, returned };
  const summary = { ...summaryOf(job, scan, results), mode, ...synced };
  const isRolledBack = summary.atomic && summary.failed > 0;
  const texts = isRolledBack ? results.textsOfNothing() : results.texts();
  return { summary, texts, seconds: (performance.now() - start) / 1000 };
}

const definedOf = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>;
  };

async function findImportable(
  database: Database,
  moment: Moment,
  requested: string,
  { project, createProjects }: ImportOptions,
): Promise<Importable> {
  const [what, found] = findTransferable(requested, 'imported');
  if (!found.ofProject) return project ? rejectProject(what) : found.import(moment);
  const itemImport = await found.ofProject.import(database.db);
  if (!project) return importAcrossProjects(itemImport, moment, createProjects ?? false);
  return itemImport(await getProjectForWriting(database.db, project, moment), moment);
}

/** The path `-` reads standard input. */
async function readImportFile(path: string): Promise<Buffer> {
  try {
    if (path !== '-') assertSize((await stat(path)).size);
    const file = await (path === '-' ? buffer(process.stdin) : readFile(path));
    assertSize(file.length);
    return file;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(fileErrors[code ?? '']?.(path) ?? `The file ${path} cannot be read (${message}).`, {
      cause: error,
    });
  }
}

function assertSize(bytes: number): void {
  if (bytes > limits.import_bytes)
    throw new UsageError(`The file is larger than ${limits.import_bytes / 1024 / 1024} MiB. Split it.`);
}

const fileErrors: Record<string, (path: string) => string> = {
  ENOENT: (path) => `There is no file ${path}.`,
  EISDIR: (path) => `${path} is a folder. Name a file.`,
  EACCES: (path) => `You are not allowed to read ${path}.`,
};

/** What a user needs to know after stopping an import. */
export function interruptedReport(done: number, rows: number, options: ImportOptions): string {
  if (options.atomic || options.dryRun) return 'Stopped. Nothing was changed.';
  const extent =
    done === 0
      ? 'The first rows may be imported.'
      : `At least the first ${formatNumber(done)} of ${formatNumber(rows)} rows are imported.`;
  return (
    `Stopped. ${extent} To continue, run the command again with --mode upsert. Rows without an identifier, such as ` +
    'external_id, would be created again: remove those that are imported from the file first.'
  );
}

/** The report for people: counts, speed, and the errors of each failed row. */
export async function* importReport({ summary, texts, seconds }: Imported): AsyncGenerator<string> {
  const { rows, failed, atomic, dry_run } = summary;
  const counts = (['created', 'updated', 'unchanged', 'failed', 'skipped'] as const)
    .filter((status) => summary[status] > 0)
    .map((status) => `${formatNumber(summary[status])} ${status}`);
  const rate = rows > 0 && seconds > 0 ? ` (${formatNumber(Math.round(rows / seconds))} rows a second)` : '';
  yield `${formatNumber(rows)} ${rows === 1 ? 'row' : 'rows'}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}, in ${seconds.toFixed(1)} s${rate}.`;
  if (dry_run) yield 'Dry run: nothing was changed.';
  if (atomic && failed > 0 && !dry_run)
    yield 'Nothing was changed: an atomic import creates all rows or none.';
  const { ignored_columns: ignored } = summary;
  if (ignored.length > 0)
    yield `Ignored columns (set by the service or excluded with --map): ${joinWords(ignored)}.`;
  if (summary.explanation !== '') yield summary.explanation;
  const notStored = summary.skipped_cells.filter(
    ({ column }) =>
      column !== null && !ignored.includes(column) && !Object.hasOwn(summary.unknown_columns, column),
  );
  if (notStored.length > 0) {
    const columns = notStored.map(({ column, cells }) => `${formatNumber(cells)} of “${column}”`);
    yield `Read but not stored: ${joinWords(columns)}. Use --json to see the reasons.`;
  }
  const { leavers = [], kept = [], returned = [] } = summary;
  for (const [label, people] of [
    ['Missing in the file', leavers],
    ['Missing in the file, but in another source', kept],
    ['In the file again, so active again', returned],
  ] as const) {
    const names = people.slice(0, 10).map(({ name }) => name);
    const more = people.length > 10 ? [`${formatNumber(people.length - 10)} more`] : [];
    if (people.length > 0) yield `${label}: ${joinWords([...names, ...more])}.`;
  }
  for (const { name, error } of leavers) if (error) yield `${name}: ${error}`;
  if (Object.keys(summary.unknown_columns).length > 0)
    yield 'Assign columns with --map, or keep them with --unknown-columns attributes.';
  if (Object.keys(summary.unknown_values).length > 0)
    yield 'Assign values with --map-values, such as --map-values "Status:Parked=monitoring".';
  const warnings: string[] = [];
  let shown = 0;
  for await (const batch of texts) {
    for (const text of batch) {
      const { line, errors = [], warnings: all = [] } = JSON.parse(text) as ImportResult;
      // The explanation names each unknown person once.
      const odd = all.filter(({ code }) => code !== 'unknown_person');
      if (warnings.length <= maxShown) warnings.push(...odd.map((warning) => lineOf(line, warning)));
      if (errors.length > 0 && shown++ < maxShown) for (const error of errors) yield lineOf(line, error);
    }
  }
  if (failed > maxShown)
    yield `… and ${formatNumber(failed - maxShown)} more rows. Use --json to see all of them.`;
  yield* warnings.slice(0, maxShown);
  if (warnings.length > maxShown) yield '… and more warnings. Use --json to see all of them.';
}

type RowError = NonNullable<ImportResult['errors']>[number];

function lineOf(line: number, { pointer, column, detail }: RowError): string {
  const where = column ?? pointer?.slice(2);
  return `line ${line}${where ? `, ${where}` : ''}: ${detail}`;
}

const maxShown = 100;

const formatNumber = (value: number) => value.toLocaleString('en-US');

/** The JSON that the API returns for an import. */
export const importJson = ({ summary, texts }: Imported): AsyncGenerator<string> =>
  asJson({ summary }, texts);
