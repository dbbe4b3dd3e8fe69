/** `npm run bench -- <name> [options]`: runs one of the benchmarks, which read the rest of the arguments. */
const benchmarks: Record<string, { description: string; run(): Promise<unknown> }> = {
  baselines: {
    description: 'the service against baselines in the same run; runs without a name, too',
    run: () => import('./run.ts'),
  },
  against: {
    description: 'CPU time per request against another commit; --against COMMIT runs it, too',
    run: () => import('./against.ts'),
  },
  backup: {
    description: 'backup and restore from SQLite to PostgreSQL and back',
    run: () => import('./backup.ts'),
  },
  capacity: {
    description: 'computes the size of the database and the number of instances from unit costs',
    run: async () => (await import('./capacity.ts')).printCapacity(process.argv.slice(2)),
  },
  console: { description: 'long lists of the console in a real browser', run: () => import('./console.ts') },
  costs: {
    description: 'CPU time of each kind of request and bytes of each kind of row; writes unit-costs.json',
    run: () => import('./unit-costs.ts'),
  },
  events: { description: 'what an event costs, a follower, many streams', run: () => import('./events.ts') },
  import: { description: 'people from CSV over HTTP', run: () => import('./import.ts') },
  overload: {
    description: 'ten times the requests that the service can process',
    run: () => import('./overload.ts'),
  },
  requests: {
    description: 'CPU time of each sort, filter and summary that the API offers',
    run: () => import('./requests/main.ts'),
  },
  sessions: {
    description: 'a cached page in a session against the same with a key',
    run: () => import('./sessions.ts'),
  },
  'slow-clients': {
    description: '1,000 connections that send one byte per second',
    run: () => import('./slow-clients.ts'),
  },
  webhooks: { description: 'deliveries to 1 and to 10 webhooks', run: () => import('./webhooks.ts') },
};

if (process.argv[2] === '--against') process.argv[2] = 'against';
const [first = ''] = process.argv.slice(2);
const isHelp = first === '--help' || first === '-h';
const hasName = first !== '' && !first.startsWith('-');
const benchmark = Object.hasOwn(benchmarks, first) ? benchmarks[first] : undefined;
if (isHelp || (hasName && !benchmark)) {
  const lines = Object.entries(benchmarks).map(
    ([name, { description }]) => `  ${name.padEnd(14)}${description}`,
  );
  const usage = ['npm run bench -- <name> [options]', '', ...lines, '', 'See bench/README.md.'].join('\n');
  if (isHelp) console.log(usage);
  else console.error(`There is no benchmark ${first}.\n\n${usage}`);
  process.exitCode = isHelp ? 0 : 1;
} else {
  if (benchmark) process.argv.splice(2, 1);
  await (benchmark ?? benchmarks.baselines)?.run();
}
