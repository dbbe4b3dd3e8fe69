import { useEffect, useMemo, useState } from 'react';
import { ApiProblem, upload } from '../api/client.ts';
import type { ImportAnswer, ImportSummary } from '../api/openapi.ts';
import { leaveWhenUnauthenticated } from '../api/queries.ts';
import { useMe } from '../api/session.ts';
import { number } from '../format.ts';

/** How a file is to be taken in. In `map`, what a column is: a field, or nothing. */
export type Settings = {
  mode: ImportSummary['mode'];
  atomic: boolean;
  map: Readonly<Record<string, string>>;
};

type Run = { path: string; file: File; settings: Settings };

const typesByEnding: Record<string, string> = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
};

export const endings = ['.csv', '.tsv', '.txt', ...Object.keys(typesByEnding).map((ending) => `.${ending}`)];

type Sending = { signal: AbortSignal; onSent: (share: number) => void; dryRun: boolean };

/** What became of each row; also where a fault has kept all of them out. */
export async function runImport({ path, file, settings }: Run, { dryRun, ...sending }: Sending) {
  const { mode, atomic, map } = settings;
  const pairs = Object.entries(map).map(([column, field]) => `${column}=${field}`);
  const query = new URLSearchParams({
    mode,
    atomic: String(atomic),
    dry_run: String(dryRun),
    ...(pairs.length > 0 && { map: pairs.join(',') }),
  });
  const type = typesByEnding[file.name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'text/csv';
  try {
    return await upload<ImportAnswer>(`${path}?${query}`, file, { type, ...sending });
  } catch (error) {
    leaveWhenUnauthenticated(error);
    if (!(error instanceof ApiProblem)) throw error;
    if (error.code === 'import_refused') return error.body as unknown as ImportAnswer;
    if (error.status === 0 && !(await isReadable(file))) throw changedFile();
    throw error;
  }
}

/** A browser reads a file when it is sent, and not at all when it was written to since it was chosen. */
const isReadable = (file: File) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

const changedFile = () =>
  new ApiProblem(0, { detail: 'The file was changed or moved since it was chosen. Choose it again.' });

/** What each column was taken for: a field, nothing (`''`), or, unknown to the service, null. */
export type Columns = Readonly<Record<string, string | null>>;

type Outcome = { of: Run; asked: string; answer?: ImportAnswer; error?: Error };

/**
 * What would happen, asked anew whenever the file or the settings change; until it is told, what was told last. While
 * columns are unknown that nothing has been said of, there is no use in asking.
 */
export function useDryRun(run: Run | undefined) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [sent, setSent] = useState(0);
  const [attempt, setAttempt] = useState(1);
  const { import_bytes } = useMe().limits;
  const asked = JSON.stringify([run?.path, run?.settings, attempt]);
  const last = outcome && outcome.of.file === run?.file && outcome.of.path === run.path ? outcome : undefined;
  const columns = useMemo(() => columnsOf(last), [last]);
  const undecided = Object.keys(last?.error ? columns : {}).filter(
    (name) => columns[name] === null && run?.settings.map[name] === undefined,
  );
  const isWanted = undecided.length === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` is the path, the settings and the attempt
  useEffect(() => {
    if (!run || !isWanted) return;
    const ending = new AbortController();
    const settle = (result: { answer: ImportAnswer } | { error: Error }) => {
      if (!ending.signal.aborted) setOutcome({ ...result, of: run, asked });
    };
    setSent(0);
    if (run.file.size > import_bytes) settle({ error: tooLarge(run.file, import_bytes) });
    else {
      runImport(run, { dryRun: true, signal: ending.signal, onSent: setSent }).then(
        (answer) => settle({ answer }),
        (error) => settle({ error }),
      );
    }
    return () => ending.abort();
  }, [run?.file, asked, isWanted, import_bytes]);
  const isPending = run !== undefined && isWanted && last?.asked !== asked;
  const retry = () => setAttempt((now) => now + 1);
  return { answer: last?.answer, error: last?.error, columns, undecided, isPending, sent, retry };
}

function columnsOf({ answer, error }: Partial<Outcome> = {}): Columns {
  if (error instanceof ApiProblem) return (error.body.columns ?? {}) as Columns;
  if (!answer) return {};
  const { columns, ignored_columns } = answer.summary;
  // In NDJSON every row has columns of its own, and what is unknown is a fault of the row.
  const unknown = answer.results.flatMap(({ errors = [] }) =>
    errors.filter(({ code }) => code === 'unknown_field').map(({ pointer }) => pointer?.slice(2) ?? ''),
  );
  const pairs = [...unknown.map((name) => [name, null]), ...ignored_columns.map((name) => [name, ''])];
  return { ...columns, ...Object.fromEntries(pairs) };
}

const mebibytes = (bytes: number) => `${number(Math.ceil(bytes / 1024 ** 2))} MiB`;

const tooLarge = ({ size }: File, most: number) =>
  new ApiProblem(413, {
    detail: `The file has ${mebibytes(size)}; at most ${mebibytes(most)} can be imported at once. Split it.`,
  });
