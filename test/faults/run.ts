import { setTimeout } from 'node:timers/promises';
import { createCleanup } from '../cleanup.ts';
import { type PostgresServer, startPostgresServer } from '../postgres-server.ts';
import { createTally, type Options, type Scenario, type Tally } from './outcome.ts';
import { createRandom } from './random.ts';

/** The scenarios test durability, so PostgreSQL flushes writes as in production. */
export const durableSettings = ['fsync=on', 'full_page_writes=on', 'max_connections=200'];

type RunOptions = {
  isQuickRun: boolean;
  rounds?: number | undefined;
  seed: number;
  soakMinutes?: number;
  minutes?: number | undefined;
  log?: (text: string) => void;
};

export type Result = Tally & { scenario: string; seconds: number };

/** Runs scenarios sequentially, so that they do not affect each other's timing. `stop` ends all their processes. */
export function createRunner(runOptions: RunOptions) {
  const { isQuickRun, rounds, seed, soakMinutes = 0, minutes, log = () => {} } = runOptions;
  const afterAll = createCleanup();
  let current = createCleanup();
  let postgres: Promise<PostgresServer> | undefined;

  function getPostgres(): Promise<PostgresServer> {
    if (postgres) return postgres;
    const starting = startPostgresServer(durableSettings);
    postgres = starting;
    afterAll.after(async () => (await starting).stop());
    return starting;
  }

  async function run(scenario: Scenario): Promise<Result> {
    const startedAt = performance.now();
    const cleanup = createCleanup();
    const tally = createTally();
    current = cleanup;
    const error = await runWithinLimit(scenario, {
      isQuickRun,
      rounds: (full, quick) => rounds ?? (isQuickRun ? quick : full),
      random: createRandom(seed),
      tally,
      cleanup,
      postgres: getPostgres,
      soakMinutes,
      minutes,
      slackMs: isQuickRun ? 5000 : 1000,
      log: (text) => log(`${scenario.name}: ${text}`),
    });
    if (error) tally.failures.unshift(`The scenario was aborted: ${error.message}`);
    await cleanup.run();
    // An aborted scenario may leave the server killed or frozen.
    if (error) {
      await afterAll.run();
      postgres = undefined;
    }
    return { ...tally, scenario: scenario.name, seconds: (performance.now() - startedAt) / 1000 };
  }

  return {
    run,
    async stop() {
      await current.run();
      await afterAll.run();
    },
  };
}

/** Returns the error that aborted the scenario. */
async function runWithinLimit({ run, maxMinutes }: Scenario, options: Options): Promise<Error | undefined> {
  const timer = new AbortController();
  const limit = setTimeout(maxMinutes * 60_000, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`it took longer than ${maxMinutes} minutes`);
  });
  try {
    await Promise.race([run(options), limit]);
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    timer.abort();
  }
}
