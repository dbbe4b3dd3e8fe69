import { hasPassed, type Outcome } from './outcome.ts';

export type Result = Outcome & { scenario: string; seconds: number };

const columns: [title: string, value: (result: Result) => string][] = [
  ['scenario', ({ scenario }) => scenario],
  ['rounds', ({ rounds }) => String(rounds)],
  ['acknowledged', ({ acknowledged }) => String(acknowledged)],
  ['lost', ({ lost }) => String(lost)],
  ['stale', ({ stale }) => String(stale)],
  ['500s', ({ responses500 }) => String(responses500)],
  ['max stall', ({ maxStallMs }) => formatMs(maxStallMs)],
  ['max /livez', ({ maxLivezMs }) => formatMs(maxLivezMs)],
  ['time', ({ seconds }) => `${Math.round(seconds)} s`],
  ['verdict', verdictOf],
];

export function verdictOf(result: Result): string {
  if (result.skipped !== undefined) return 'skipped';
  return hasPassed(result) ? 'passed' : 'FAILED';
}

const formatMs = (ms: number | null) => (ms === null ? '–' : `${ms} ms`);

/** One line per scenario, then the notes and failures. */
export function formatTable(results: Result[]): string {
  const rows = [
    columns.map(([title]) => title),
    ...results.map((result) => columns.map(([, value]) => value(result))),
  ];
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) =>
        i === 0 || i === columns.length - 1 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const remarks = results.flatMap(({ scenario, skipped, notes, failures }) => [
    ...(skipped === undefined ? [] : [`${scenario}: skipped: ${skipped}`]),
    ...notes.map((note) => `${scenario}: ${note}`),
    ...failures.map((failure) => `${scenario}: FAILED: ${failure}`),
  ]);
  return [...lines, '', ...remarks].join('\n');
}
