import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Results } from './results.ts';

/** One run of the benchmarks: the value of each, and what is needed to compare it with other runs. */
export type HistoryRun = {
  date: string;
  commit: string;
  machine: string;
  risks: number;
  values: Record<string, number>;
};

const historyFile = join(import.meta.dirname, 'history.json');
const chartFile = join(import.meta.dirname, 'history.svg');

/** Adds a run to `history.json`, which has one line per run, and draws the chart again. */
export function recordRun(results: Results): void {
  const history: HistoryRun[] = [...JSON.parse(readFileSync(historyFile, 'utf8')), summarizeRun(results)];
  writeFileSync(historyFile, `[\n${history.map((run) => JSON.stringify(run)).join(',\n')}\n]\n`);
  writeFileSync(chartFile, drawHistory(history));
}

const summarizeRun = ({ date, machine, settings, benchmarks }: Results): HistoryRun => ({
  date,
  commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
  machine: `${machine.cpu}, ${machine.cores} cores`,
  risks: settings.sizes.main?.risks ?? 0,
  values: Object.fromEntries(benchmarks.map(({ name, value }) => [name, Number(value.toPrecision(4))])),
});

const columns = 3;
const panel = { width: 260, height: 110, left: 16, top: 34, plotWidth: 190, plotHeight: 56 };

/** Draws a small line chart for each benchmark, from its first to its last run. The axis starts at zero. */
export function drawHistory(history: HistoryRun[]): string {
  const names = [...new Set(history.flatMap(({ values }) => Object.keys(values)))];
  const width = columns * panel.width;
  const height = Math.ceil(names.length / columns) * panel.height + 24;
  const panels = names.map((name, i) => {
    const [x, y] = [(i % columns) * panel.width, Math.floor(i / columns) * panel.height];
    return `<g transform="translate(${x} ${y})">${drawPanel(name, history)}</g>`;
  });
  const [first, last] = [history[0]?.date.slice(0, 10), history.at(-1)?.date.slice(0, 10)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The value of each benchmark in ${history.length} runs</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.value { font-weight: 600 } .axis { stroke: #8c959f } .line { fill: none; stroke: #0969da; stroke-width: 2 } circle { fill: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .axis { stroke: #6e7681 } .line { stroke: #58a6ff } circle { fill: #58a6ff } }
</style>
${panels.join('\n')}
<text x="${panel.left}" y="${height - 8}">${history.length} runs, ${first} to ${last}</text>
</svg>
`;
}

function drawPanel(name: string, history: HistoryRun[]): string {
  const { left, top, plotWidth, plotHeight } = panel;
  const points = history.flatMap(({ values }, run) => {
    const value = values[name];
    return value === undefined ? [] : [{ run, value }];
  });
  const max = Math.max(...points.map(({ value }) => value)) || 1;
  const step = plotWidth / Math.max(1, history.length - 1);
  const bottom = top + plotHeight;
  const places = points.map(
    ({ run, value }) =>
      [(left + run * step).toFixed(1), (bottom - (value / max) * plotHeight).toFixed(1)] as const,
  );
  const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3"/>`).join('');
  return `<text x="${left}" y="20">${name} <tspan class="value">${points.at(-1)?.value.toFixed(2)}</tspan></text><line class="axis" x1="${left}" x2="${left + plotWidth}" y1="${bottom}" y2="${bottom}"/><polyline class="line" points="${places.map((place) => place.join(',')).join(' ')}"/>${dots}`;
}
