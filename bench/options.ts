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

type Given = Partial<typeof full> & {
  quick?: true;
  folder?: string;
  load?: 'wrk' | 'autocannon';
  only?: string;
  compare?: string;
  output?: string;
};

export function readOptions(args: string[]): Options {
  const program = new Command('npm run bench --')
    .description(
      'Measures the service beside baselines in the same run. bench/README.md says how to read it.',
    )
    .option('--quick', 'small data and one short round: does everything work, in under two minutes')
    .option('--rounds <n>', 'how often all arms take turns', wholeNumber)
    .option('--seconds <n>', 'how long each side of an arm is measured', wholeNumber)
    .option('--projects <n>', 'on SQLite; on PostgreSQL there is a tenth of each', wholeNumber)
    .option('--people <n>', 'likewise', wholeNumber)
    .option('--risks <n>', 'likewise', wholeNumber)
    .option('--issues <n>', 'likewise', wholeNumber)
    .option('--ranks <n,n…>', 'the numbers of risks the ranked page is built from', wholeNumbers)
    .option('--only <names>', 'only these arms, separated by commas')
    .option(
      '--folder <path>',
      'where the data goes meanwhile; the system’s folder for such things by default',
    )
    .addOption(new Option('--load <tool>', 'instead of the best there is').choices(['wrk', 'autocannon']))
    .option('--compare <results>', 'end with 1 if an arm is much worse than in these results')
    .option('--output <file>', 'where to write the results');
  const given = program.parse(args, { from: 'user' }).opts<Given>();
  const { rounds, seconds, ranks, ...rest } = { ...(given.quick ? quick : full), ...given };
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
  };
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.');
  return Number(text);
}

const wholeNumbers = (text: string) => text.split(',').map(wholeNumber);
