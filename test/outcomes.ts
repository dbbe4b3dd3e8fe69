import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A test that failed or was skipped, and why it was skipped. */
type Outcome = { file: string; name: string; type: 'failed' | 'skipped'; reason?: string | true };

/** A node:test reporter that writes a line of JSON for each test that failed or was skipped. */
// biome-ignore lint/style/noDefaultExport: node:test loads the default export of a reporter
export default async function* reportOutcomes(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const test = { file: relative(process.cwd(), data.file ?? ''), name: data.name };
    if (type === 'test:fail') yield `${JSON.stringify({ ...test, type: 'failed' })}\n`;
    else if (data.skip !== undefined)
      yield `${JSON.stringify({ ...test, type: 'skipped', reason: data.skip })}\n`;
  }
}

export const parseOutcomes = (report: string): Outcome[] =>
  report
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Lists all skipped tests in one line by file and reason; empty when there are none. */
export function summarizeSkipped(outcomes: readonly Outcome[]): string {
  const names = new Map<string, string[]>();
  for (const { file, name, type, reason } of outcomes) {
    if (type !== 'skipped') continue;
    const place = `${file} (${typeof reason === 'string' ? reason : 'no reason given'})`;
    names.set(place, [...(names.get(place) ?? []), name]);
  }
  const places = Array.from(names, ([place, tests]) => `${place}: ${tests.join('; ')}`);
  return places.length === 0 ? '' : `Skipped: ${places.join(' · ')}`;
}

/** The files with failed tests. A suite that a helper declares is reported with the file of the helper. */
export const failedFiles = (outcomes: readonly Outcome[]): string[] => [
  ...new Set(
    outcomes
      .filter(({ type, file }) => type === 'failed' && file.endsWith('.test.ts'))
      .map(({ file }) => file),
  ),
];
