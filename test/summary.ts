import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const maxSlowFiles = 10;

/** A node:test reporter that lists, at the end, the slowest files and the skipped tests by file and reason. */
// biome-ignore lint/style/noDefaultExport: node:test loads the default export of a reporter
export default async function* summarize(events: AsyncIterable<TestEvent>) {
  const skipped = new Map<string, string[]>();
  const files: { name: string; seconds: number }[] = [];
  const nameOf = (file = '') => relative(process.cwd(), file);
  for await (const { type, data } of events) {
    if (type === 'test:summary' && data.file)
      files.push({ name: nameOf(data.file), seconds: Math.round(data.duration_ms / 1000) });
    if (type !== 'test:pass' || data.skip === undefined) continue;
    const place = `${nameOf(data.file)} (${typeof data.skip === 'string' ? data.skip : 'no reason given'})`;
    skipped.set(place, [...(skipped.get(place) ?? []), data.name]);
  }
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, maxSlowFiles);
  yield `Slowest files: ${slowest.map(({ name, seconds }) => `${name} ${seconds} s`).join(' · ')}\n`;
  if (skipped.size === 0) return;
  yield `Skipped: ${Array.from(skipped, ([place, tests]) => `${place}: ${tests.join('; ')}`).join(' · ')}\n`;
}
