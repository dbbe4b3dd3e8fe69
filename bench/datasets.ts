import { copyFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../src/core/errors.ts';
import type { Sizes } from './dataset.ts';
import type { Options } from './options.ts';
import { run, script } from './processes.ts';

/** A filled database, and a key that opens it. */
export type Dataset = { url: string; key: string };

export const bearer = ({ key }: Dataset) => ({ authorization: `Bearer ${key}` });

/** The file of a world on SQLite. */
export const fileOf = ({ url }: Dataset) => url.slice('sqlite:'.length);

/** A fresh copy of a world on SQLite. */
export function copyOf(dataset: Dataset, name: string): Dataset {
  const copy = { ...dataset, url: `${dataset.url}-${name}` };
  for (const part of ['', '-wal', '-shm']) rmSync(fileOf(copy) + part, { force: true });
  copyFileSync(fileOf(dataset), fileOf(copy));
  return copy;
}

type Plan = { name: string; url: string; sizes: Sizes };

export type Datasets = {
  main: Dataset;
  /** People only, for adding to. */
  roster: Dataset;
  postgres: Dataset;
  /** By how many risks are in them. */
  ranks: Map<number, Dataset>;
};

/** Makes all databases that are measured. */
export async function createDatasets(
  folder: string,
  postgresUrl: string,
  { sizes, postgres, ranks }: Options,
  say: (text: string) => void,
) {
  const inFile = (name: string, sizes: Sizes): Plan => ({
    name,
    url: `sqlite:${join(folder, name)}.db`,
    sizes,
  });
  const plans = [
    inFile('main', sizes),
    inFile('roster', { ...sizes, risks: 0, issues: 0 }),
    { name: 'postgres', url: postgresUrl, sizes: postgres },
    // Only the risks differ; one in twenty has become an issue in all of them.
    ...ranks
      .filter((risks) => risks !== sizes.risks)
      .map((risks) =>
        inFile(`ranked-${risks}`, { ...sizes, risks, issues: Math.min(Math.ceil(risks / 2), sizes.issues) }),
      ),
  ];
  const lacking = withoutRoom(folder, plans);
  const made = new Map<string, Dataset>();
  const waiting = plans
    .filter(({ name }) => !lacking.has(name))
    .sort((a, b) => b.sizes.risks - a.sizes.risks);
  // The largest takes as long as all others together.
  const lane = async () => {
    for (let plan = waiting.shift(); plan; plan = waiting.shift()) {
      const begin = performance.now();
      made.set(plan.name, await makeWorld(plan));
      say(`filled ${plan.name} in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    }
  };
  await Promise.all([lane(), lane()]);

  const dataset = (name: string) => {
    const found = made.get(name);
    if (!found)
      throw new UsageError(
        `No room for the data: ${name} ${lacking.get(name)}. Try --quick, or another --folder.`,
      );
    return found;
  };
  const datasets: Datasets = {
    main: dataset('main'),
    roster: dataset('roster'),
    postgres: dataset('postgres'),
    ranks: new Map(
      ranks
        .filter((risks) => !lacking.has(`ranked-${risks}`))
        .map((risks) => [risks, dataset(risks === sizes.risks ? 'main' : `ranked-${risks}`)]),
    ),
  };
  return { datasets, lacking, sizes: Object.fromEntries(plans.map(({ name, sizes }) => [name, sizes])) };
}

async function makeWorld({ url, sizes }: Plan): Promise<Dataset> {
  const key = await run(...script('children/fill.ts', JSON.stringify({ url, sizes })));
  return { url, key: key.trim() };
}

/** Rough, and on the safe side: with all indexes, and room for sorting the largest. */
const bytesPerRow: Sizes = { risks: 1600, issues: 1100, people: 900, projects: 500 };

/** The smaller ones have the first claim on what is free. */
function withoutRoom(folder: string, plans: Plan[]): Map<string, string> {
  const { bavail, bsize } = statfsSync(folder);
  let free = bavail * bsize;
  const lacking = new Map<string, string>();
  for (const { name, sizes } of plans.toSorted((a, b) => a.sizes.risks - b.sizes.risks)) {
    const needed = names.reduce((sum, rows) => sum + sizes[rows] * bytesPerRow[rows], 0);
    if (needed > free) lacking.set(name, `needs ${gigabytes(needed)} of disk; ${gigabytes(free)} are left`);
    else free -= needed;
  }
  return lacking;
}

const names = ['projects', 'people', 'risks', 'issues'] as const;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
