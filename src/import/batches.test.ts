import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../formats/rows.ts';
import { AdaptiveBatchSize, readBatches } from './batches.ts';
import type { ParsedRow } from './parse-rows.ts';

/** The projects of the rows of a file in the order in which they are written, with the rows of each. */
async function writtenOrder(projects: readonly string[], isByProject: boolean) {
  const rows = projects.map((project, line): Row => ({ line, names: ['Project'], cells: [project] }));
  const parse = ({ cells }: Row, index: number) =>
    ({ index, projects: [String(cells[0])] }) as unknown as ParsedRow;
  const batches = readBatches(file(rows), parse, new AdaptiveBatchSize(8), isByProject);
  return (await Array.fromAsync(batches)).flatMap(({ rows }) => rows);
}

async function* file(rows: Row[]) {
  for (let at = 0; at < rows.length; at += 100) yield rows.slice(at, at + 100);
}

const projectsOf = (rows: readonly ParsedRow[]) => rows.map(({ projects }) => String(projects));
const changesIn = (list: readonly string[]) => list.filter((one, i) => i > 0 && one !== list[i - 1]).length;

test('rows of many projects in turn are written project by project, each in the order of the file', async () => {
  const projects = Array.from({ length: 1_000 }, (_, i) => `P${i % 20}`);
  const rows = await writtenOrder(projects, true);
  assert.equal(changesIn(projectsOf(rows)), 19);
  for (const ofProject of Map.groupBy(rows, ({ projects }) => String(projects)).values()) {
    const order = ofProject.map(({ index }) => index);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  }
  assert.equal(new Set(rows.map(({ index }) => index)).size, 1_000);
});

test('other rows stay in the order of the file', async () => {
  const rows = await writtenOrder(['B', 'A', 'B', 'A'], false);
  assert.deepEqual(projectsOf(rows), ['B', 'A', 'B', 'A']);
});

test('long rows are sorted in shorter stretches', async () => {
  const long = 'x'.repeat(6 * 1024 * 1024);
  const projects = Array.from({ length: 6 }, (_, i) => `${i % 2}${long}`);
  const rows = await writtenOrder(projects, true);
  assert.deepEqual(
    rows.map(({ index }) => index),
    [0, 2, 1, 3, 5, 4],
  );
});
