import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, fetchFrom, upload } from '../api/client.ts';
import { newIdempotencyKey } from '../api/lost-responses.ts';
import type { ImportResponse, ImportResult, ImportSummary } from '../api/openapi.ts';
import { endSessionOn401, useMe } from '../api/session.ts';
import { formatNumber, humanize } from '../format.ts';
import { columnParameters, type Settings } from './settings.ts';

export type ImportReport = ImportResponse;

export type Run = {
  path: string;
  file: File;
  settings: Settings;
  /** For each row of a corrected file: its line in the file that the user selected, and why that line is unreadable. */
  original?: Pick<ImportResult, 'line' | 'errors'>[] | undefined;
  /** The cells of the selected file that a corrected file does not contain. */
  skipped?: SkippedCells[] | undefined;
};

type SkippedCells = ImportSummary['skipped_cells'][number];

const contentTypes: Record<string, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  // A workbook with macros, which are not read.
  xlsm: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
};

export const fileExtensions = [
  '.csv',
  '.tsv',
  '.txt',
  ...Object.keys(contentTypes).map((name) => `.${name}`),
];

type Options = {
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
  dryRun: boolean;
  idempotencyKey?: string | undefined;
};

export const contentTypeOf = ({ name }: File) =>
  contentTypes[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'text/csv';

/** The result of each row, also when an invalid row has stopped an atomic import. */
export async function runImport(run: Run, { dryRun, ...options }: Options) {
  const { path, file } = run;
  const query = new URLSearchParams({
    ...parametersOf(run),
    dry_run: String(dryRun),
    // To review every row before the import, and to report the failed ones after it.
    include: dryRun ? 'data' : 'failed_data',
  });
  try {
    const type = contentTypeOf(file);
    return inOriginal(await upload<ImportReport>(`${path}?${query}`, file, { type, ...options }), run);
  } catch (error) {
    endSessionOn401(error);
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'import_refused') return inOriginal(error.body as unknown as ImportReport, run);
    if (error.status === 0 && !(await isReadable(file))) throw fileChanged();
    throw error;
  }
}

/**
 * The attempts of an open dialog to import a file with the same settings. A second one has the idempotency key of the
 * first; where the service takes none, because it writes several transactions, it is asked first what has arrived.
 */
export function useAttempts() {
  const [attempts] = useState(() => new WeakMap<File, Map<string, Attempt>>());
  return (run: Run): Attempt => {
    const ofFile = attempts.get(run.file) ?? new Map<string, Attempt>();
    attempts.set(run.file, ofFile);
    const settings = JSON.stringify([run.path, parametersOf(run)]);
    const attempt = ofFile.get(settings) ?? {
      ...(run.settings.atomic && { idempotencyKey: newIdempotencyKey() }),
    };
    ofFile.set(settings, attempt);
    return attempt;
  };
}

/** `lostSince` is when an attempt began whose response was lost, if nothing else makes another one safe. */
export type Attempt = { idempotencyKey?: string; lostSince?: string };

/** Whether an import may have written rows although it failed. */
export const isLost = (error: unknown) =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500);

/** How many rows have been added or changed since a moment where an import writes. */
export async function countArrived({ path }: Run, since: string): Promise<number> {
  const list = path.replace(/\/import$/, '').replace('/imports/', '/');
  const all = /\/(risks|issues|tasks)$/.test(list) ? '&status=all' : '';
  const query = `updated_since=${encodeURIComponent(since)}${all}&limit=1&count=true`;
  const response = await fetchFrom(`${list === '/v1/issues' ? '/v1/issues/all' : list}?${query}`);
  return ((await response.json()) as { page: { total: number } }).page.total;
}

function parametersOf({ settings, original }: Run): Record<string, string> {
  const { mode, atomic, charset, mapping, create_projects } = settings;
  const { sheet, header_row, ...parameters } = columnParameters(settings);
  return {
    mode,
    atomic: String(atomic),
    ...parameters,
    ...(mapping !== undefined && { mapping }),
    ...(create_projects && { create_projects: 'true' }),
    // A corrected file is plain CSV with its header on the first line, whatever a mapping says of it.
    ...(original
      ? mapping !== undefined && { header_row: '1' }
      : { ...(sheet && { sheet }), ...(header_row && { header_row }), ...(charset && { charset }) }),
  };
}

/** With the lines of the file that the user selected, and the names of the people whom the user chose. */
const inOriginal = (report: ImportReport, { original = [], skipped = [], settings }: Run): ImportReport => ({
  ...report,
  summary: withNames(
    { ...report.summary, skipped_cells: [...skipped, ...report.summary.skipped_cells] },
    settings,
  ),
  results: report.results.map((result, i) => ({ ...result, ...original[i] })),
});

function withNames(summary: ImportSummary, { people }: Settings): ImportSummary {
  const names = new Map(Object.values(people).map(({ value = '', name = '' }) => [value, name]));
  const nameOf = (value: string) => names.get(value) || value;
  return {
    ...summary,
    values: Object.fromEntries(
      Object.entries(summary.values).map(([column, texts]) => [
        column,
        Object.fromEntries(Object.entries(texts).map(([text, value]) => [text, nameOf(value)])),
      ]),
    ),
    explanation: summary.explanation.replace(
      /`(\w+)`/g,
      (_, value: string) => inWords(value) ?? nameOf(value),
    ),
  };
}

const inWords = (value: string) => {
  if (value === 'null') return 'empty';
  return /^[a-z_]+$/.test(value) ? humanize(value) : undefined;
};

/** A browser reads a file when it sends it, and fails if the file has changed since it was selected. */
const isReadable = (file: File) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

const fileChanged = () =>
  new ApiError(0, { detail: 'The file was changed or moved after you chose it. Choose it again.' });

/** What each column is mapped to: a field, nothing (`''`), or `null` when the service does not know the column. */
export type ColumnMap = Readonly<Record<string, string | null>>;

/** The sheets and lines of a file that can be chosen. */
export type TableChoices = Pick<ImportSummary, 'sheet' | 'sheets' | 'header_row' | 'first_lines' | 'charset'>;

type Outcome = { run: Run; requestKey: string; report?: ImportReport; error?: Error };

/** How often a dry run is tried that the service has no room for: others may check large files. */
const maxAttempts = 6;

/** Waits while the service is busy with other dry runs, as with one of this dialog that was aborted too late. */
async function whenFree<T>(attempt: () => Promise<T>, isWanted: () => boolean): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy = error instanceof ApiError && error.status === 503;
      if (!isBusy || !isWanted() || attempts === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * attempts));
      if (!isWanted()) throw error;
    }
  }
}

/**
 * Dry-runs the import again whenever the file or its parameters change, and returns the last outcome until then. While
 * a column is unmapped the service would reject the file again, so there is no request.
 */
export function useDryRun(run: Run | undefined) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [progress, setProgress] = useState(0);
  const [attempt, setAttempt] = useState(1);
  const { import_bytes: maxBytes } = useMe().limits;
  // The service finishes a dry run of an uploaded file and refuses several at once, so the next one waits for it.
  const former = useRef(Promise.resolve());
  const requestKey = JSON.stringify([run?.path, run && parametersOf(run), attempt]);
  const last =
    outcome && outcome.run.file === run?.file && outcome.run.path === run.path ? outcome : undefined;
  const columns = useMemo(() => columnsOf(last), [last]);
  const table = useTableChoices(run?.file, last);
  const unmapped = Object.keys(columns).filter(
    (name) => columns[name] === null && run?.settings.map[name] === undefined,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `requestKey` is the path, the parameters and the attempt
  useEffect(() => {
    if (!run) return;
    const controller = new AbortController();
    let isCurrent = true;
    let isUploaded = false;
    const settle = (result: { report: ImportReport } | { error: Error }) => {
      if (isCurrent) setOutcome({ ...result, run, requestKey });
    };
    const onProgress = (fraction: number) => {
      isUploaded = fraction === 1;
      if (isCurrent) setProgress(fraction);
    };
    const check = async () => {
      const options = { dryRun: true, signal: controller.signal, onProgress };
      if (isCurrent)
        settle({
          report: await whenFree(
            () => runImport(run, options),
            () => isCurrent,
          ),
        });
    };
    setProgress(0);
    if (run.file.size > maxBytes) settle({ error: fileTooLarge(run.file, maxBytes) });
    else former.current = former.current.then(check).catch((error) => settle({ error }));
    return () => {
      isCurrent = false;
      if (!isUploaded) controller.abort();
    };
  }, [run?.file, requestKey, maxBytes]);
  const isPending = run !== undefined && last?.requestKey !== requestKey;
  const retry = () => setAttempt((current) => current + 1);
  return { report: last?.report, error: last?.error, columns, table, unmapped, isPending, progress, retry };
}

/** An error can be about the file as a whole, so the last choices stay. */
function useTableChoices(file: File | undefined, last: Outcome | undefined): TableChoices | undefined {
  const [known, setKnown] = useState<{ file: File | undefined; table: TableChoices }>();
  const { error } = last ?? {};
  const body = error instanceof ApiError ? (error.body as unknown as Partial<TableChoices>) : undefined;
  const table = last?.report?.summary ?? (body?.first_lines ? (body as TableChoices) : undefined);
  if (table && known?.table !== table) setKnown({ file, table });
  return known?.file === file ? known?.table : undefined;
}

function columnsOf({ report, error }: Partial<Outcome> = {}): ColumnMap {
  if (error instanceof ApiError) return (error.body.columns ?? {}) as ColumnMap;
  if (!report) return {};
  const { columns, ignored_columns, unknown_columns } = report.summary;
  // Each row of an NDJSON file has its own columns, so an unknown column is an error of the row.
  const unknown = report.results.flatMap(({ errors = [] }) =>
    errors.filter(({ code }) => code === 'unknown_field').map(({ pointer }) => pointer?.slice(2) ?? ''),
  );
  const pairs = [
    ...[...unknown, ...Object.keys(unknown_columns)].map((name) => [name, null]),
    ...ignored_columns.map((name) => [name, '']),
  ];
  return { ...columns, ...Object.fromEntries(pairs) };
}

const mebibytes = (bytes: number) => `${formatNumber(Math.ceil(bytes / 1024 ** 2))} MiB`;

const fileTooLarge = ({ size }: File, maxBytes: number) =>
  new ApiError(413, {
    detail: `The file is too large: ${mebibytes(size)} of at most ${mebibytes(maxBytes)}. Split it and import the parts.`,
  });
