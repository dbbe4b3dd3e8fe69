import { copyFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../src/core/errors.ts';
import type { Sizes } from './dataset.ts';
import type { Options } from './options.ts';
import { nodeScript, run } from './processes.ts';

/** A filled database and an API key for it. */
export type Dataset = { url: string; key: string };

export const authHeaders = ({ key }: Dataset) => ({ authorization: `Bearer ${key}` });

/** The database file of a SQLite dataset. */
export const sqliteFile = ({ url }: Dataset) => url.slice('sqlite:'.length);

/** Copies a SQLite dataset and replaces an earlier copy. */
export function copyDataset(dataset: Dataset, name: string): Dataset {
  const copy = { ...dataset, url: `${dataset.url}-${name}` };
  for (const part of ['', '-wal', '-shm']) rmSync(sqliteFile(copy) + part, { force: true });
  copyFileSync(sqliteFile(dataset), sqliteFile(copy));
  return copy;
}

type Plan = { name: string; url: string; sizes: Sizes };

export type Datasets = {
  main: Dataset;
  /** Has people but no risks and issues; people are added to copies of it. */
  roster: Dataset;
  postgres: Dataset;
  /** Keyed by the number of risks. */
  ranks: Map<number, Dataset>;
};

/** Creates and fills all databases that fit on the disk. */
export async function createDatasets(
  folder: string,
  postgresUrl: string,
  { sizes, postgres, ranks }: Options,
  log: (text: string) => void,
) {
  const planSqlite = (name: string, sizes: Sizes): Plan => ({
    name,
    url: `sqlite:${join(folder, name)}.db`,
    sizes,
  });
  const plans = [
    planSqlite('main', sizes),
    planSqlite('roster', { ...sizes, risks: 0, issues: 0 }),
    { name: 'postgres', url: postgresUrl, sizes: postgres },
    // Only the number of risks differs; one risk in twenty is linked to an issue in each of them.
    ...ranks
      .filter((risks) => risks !== sizes.risks)
      .map((risks) =>
        planSqlite(`ranked-${risks}`, {
          ...sizes,
          risks,
          issues: Math.min(Math.ceil(risks / 2), sizes.issues),
        }),
      ),
  ];
  const skipReasons = findTooLarge(folder, plans);
  const created = new Map<string, Dataset>();
  const queue = plans
    .filter(({ name }) => !skipReasons.has(name))
    .sort((a, b) => b.sizes.risks - a.sizes.risks);
  // Two workers are enough: the largest dataset takes as long as the rest together.
  const worker = async () => {
    for (let plan = queue.shift(); plan; plan = queue.shift()) {
      const begin = performance.now();
      created.set(plan.name, await createDataset(plan));
      log(`filled ${plan.name} in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
    }
  };
  await Promise.all([worker(), worker()]);

  const dataset = (name: string) => {
    const found = created.get(name);
    if (!found)
      throw new UsageError(
        `Not enough disk space: ${name} ${skipReasons.get(name)}. Use --quick or another --folder.`,
      );
    return found;
  };
  const datasets: Datasets = {
    main: dataset('main'),
    roster: dataset('roster'),
    postgres: dataset('postgres'),
    ranks: new Map(
      ranks
        .filter((risks) => !skipReasons.has(`ranked-${risks}`))
        .map((risks) => [risks, dataset(risks === sizes.risks ? 'main' : `ranked-${risks}`)]),
    ),
  };
  return { datasets, skipReasons, sizes: Object.fromEntries(plans.map(({ name, sizes }) => [name, sizes])) };
}

export async function createDataset({ url, sizes }: Pick<Plan, 'url' | 'sizes'>): Promise<Dataset> {
  const key = await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })));
  return { url, key: key.trim() };
}

/** A high estimate that includes all indexes and the space to sort the largest one. */
const bytesPerRow = { risks: 1600, issues: 1100, people: 900, projects: 500 };

/** Reserves disk space for the smallest datasets first, and returns the reasons why the remaining ones do not fit. */
function findTooLarge(folder: string, plans: Plan[]): Map<string, string> {
  const { bavail, bsize } = statfsSync(folder);
  let free = bavail * bsize;
  const skipReasons = new Map<string, string>();
  for (const { name, sizes } of plans.toSorted((a, b) => a.sizes.risks - b.sizes.risks)) {
    const needed = names.reduce((sum, rows) => sum + sizes[rows] * bytesPerRow[rows], 0);
    if (needed > free)
      skipReasons.set(name, `needs ${gigabytes(needed)} of disk space; ${gigabytes(free)} is free`);
    else free -= needed;
  }
  return skipReasons;
}

const names = ['projects', 'people', 'risks', 'issues'] as const;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
