import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A node:test reporter that writes the file, name and reason of each skipped test. */
// biome-ignore lint/style/noDefaultExport: node:test loads the default export of a reporter
export default async function* reportSkipped(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined) continue;
    yield `${JSON.stringify([relative(process.cwd(), data.file ?? ''), data.name, data.skip])}\n`;
  }
}

/** Lists all skipped tests in one line by file and reason; empty when there are none. */
export function summarizeSkipped(report: string): string {
  const names = new Map<string, string[]>();
  for (const line of report.split('\n').filter((line) => line !== '')) {
    const [file, name, reason] = JSON.parse(line);
    const place = `${file} (${typeof reason === 'string' ? reason : 'no reason given'})`;
    names.set(place, [...(names.get(place) ?? []), name]);
  }
  const places = Array.from(names, ([place, tests]) => `${place}: ${tests.join('; ')}`);
  return places.length === 0 ? '' : `Skipped: ${places.join(' · ')}`;
}
