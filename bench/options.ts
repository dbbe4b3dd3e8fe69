import { Command, InvalidArgumentError, Option } from 'commander';
import type { Sizes } from './dataset.ts';

export type Options = {
  rounds: number;
  seconds: number;
  warm: number;
  sizes: Sizes;
  postgres: Sizes;
  ranks: number[];
  folder: string | undefined;
  load: 'wrk' | 'autocannon' | undefined;
  only: string[] | undefined;
  compare: string | undefined;
  output: string | undefined;
  isQuick: boolean;
};

const full = {
  rounds: 3,
  seconds: 3,
  projects: 1000,
  people: 100_000,
  risks: 1_000_000,
  issues: 500_000,
  ranks: [10_000, 100_000, 1_000_000, 10_000_000],
};
const quick = {
  rounds: 1,
  seconds: 1,
  projects: 100,
  people: 10_000,
  risks: 20_000,
  issues: 10_000,
  ranks: [10_000, 100_000],
};

type CommandLine = Partial<typeof full> & {
  quick?: true;
  folder?: string;
  load?: 'wrk' | 'autocannon';
  only?: string;
  compare?: string;
  output?: string;
};

export function readOptions(args: string[]): Options {
  const program = new Command('npm run bench -- baselines')
    .description('Measures the service against baselines in the same run. See bench/README.md.')
    .option('--quick', 'use small datasets and one short round; takes under two minutes')
    .option('--rounds <n>', 'number of rounds', parseWholeNumber)
    .option('--seconds <n>', 'seconds to measure each side of a benchmark', parseWholeNumber)
    .option('--projects <n>', 'number of projects on SQLite; PostgreSQL gets a tenth', parseWholeNumber)
    .option('--people <n>', 'number of people, same rule', parseWholeNumber)
    .option('--risks <n>', 'number of risks, same rule', parseWholeNumber)
    .option('--issues <n>', 'number of issues, same rule', parseWholeNumber)
    .option('--ranks <n,n…>', 'numbers of risks for the ranked-N benchmarks', parseWholeNumbers)
    .option('--only <names>', 'run only these benchmarks, separated by commas')
    .option('--folder <path>', 'where to store the temporary data (default: the system’s temporary folder)')
    .addOption(
      new Option('--load <tool>', 'load generator (default: wrk if installed)').choices([
        'wrk',
        'autocannon',
      ]),
    )
    .option('--compare <results>', 'exit with 1 if a benchmark is much worse than in this results file')
    .option('--output <file>', 'where to write the results');
  const commandLine = program.parse(args, { from: 'user' }).opts<CommandLine>();
  const { rounds, seconds, ranks, ...rest } = { ...(commandLine.quick ? quick : full), ...commandLine };
  const sizes = { projects: rest.projects, people: rest.people, risks: rest.risks, issues: rest.issues };
  const tenth = (rows: number) => Math.max(10, Math.round(rows / 10));
  return {
    rounds,
    seconds,
    warm: 1,
    sizes,
    postgres: {
      projects: tenth(sizes.projects),
      people: tenth(sizes.people),
      risks: tenth(sizes.risks),
      issues: tenth(sizes.issues),
    },
    ranks: ranks.toSorted((a, b) => a - b),
    folder: rest.folder,
    load: rest.load,
    only: rest.only?.split(','),
    compare: rest.compare,
    output: rest.output,
    isQuick: commandLine.quick === true,
  };
}

function parseWholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Must be a whole number of at least 1.');
  return Number(text);
}

const parseWholeNumbers = (text: string) => text.split(',').map(parseWholeNumber);
