import { setTimeout } from 'node:timers/promises';
import { type PostgresServer, startPostgresServer } from '../postgres-server.ts';
import { createCleanup } from './cleanup.ts';
import { createTally, type Options, type Outcome, type Scenario } from './outcome.ts';
import { createRandom } from './random.ts';
import type { Result } from './table.ts';

/** What survives a kill is tested, so writes must be as durable as in production. */
const durableSettings = ['fsync=on', 'full_page_writes=on', 'max_connections=200'];

export type RunOptions = {
  isIndexed: boolean;
  rounds?: number | undefined;
  seed: number;
  soakMinutes?: number;
  log?: (text: string) => void;
};

/** Scenarios one after another, so that none disturbs the times of the next. `stop` ends everything they started. */
export function createRunner({ isIndexed, rounds, seed, soakMinutes = 0, log = () => {} }: RunOptions) {
  const afterAll = createCleanup();
  let current = createCleanup();
  let postgres: Promise<PostgresServer> | undefined;

  async function startedPostgres(): Promise<PostgresServer> {
    if (!postgres) {
      const starting = startPostgresServer(durableSettings);
      postgres = starting;
      afterAll.after(async () => (await starting).stop());
    }
    return postgres;
  }

  async function run(scenario: Scenario): Promise<Result> {
    const startedAt = performance.now();
    const cleanup = createCleanup();
    current = cleanup;
    const options: Options = {
      isIndexed,
      rounds: (full, quick) => rounds ?? (isIndexed ? quick : full),
      random: createRandom(seed),
      tally: createTally(),
      cleanup,
      postgres: startedPostgres,
      soakMinutes,
      log: (text) => log(`${scenario.name}: ${text}`),
    };
    const outcome = await withinLimit(scenario, options);
    await cleanup.run();
    // A scenario that did not come to its end may have left the server killed or frozen.
    if (outcome.failures.some((failure) => failure.startsWith(brokenOff))) {
      await afterAll.run();
      postgres = undefined;
    }
    const { fail: _, note: __, stall: ___, ...counts } = outcome as ReturnType<typeof createTally>;
    return { scenario: scenario.name, ...counts, seconds: (performance.now() - startedAt) / 1000 };
  }

  return {
    run,
    async stop() {
      await current.run();
      await afterAll.run();
    },
  };
}

const brokenOff = 'The scenario was broken off';

async function withinLimit(scenario: Scenario, options: Options): Promise<Outcome> {
  const timeIsUp = new AbortController();
  const breakOff = (reason: string) => {
    options.tally.failures.unshift(`${brokenOff}: ${reason}`);
    return options.tally;
  };
  const running = scenario.run(options).catch((error: Error) => breakOff(error.message));
  const limit = setTimeout(scenario.limitMs, undefined, { signal: timeIsUp.signal }).then(
    () => breakOff(`it took longer than ${scenario.limitMs / 1000} s`),
    () => options.tally,
  );
  const outcome = await Promise.race([running, limit]);
  timeIsUp.abort();
  return outcome;
}
