import { setTimeout } from 'node:timers/promises';
import { createCleanup } from '../cleanup.ts';
import { type PostgresServer, startPostgresServer } from '../postgres-server.ts';
import { createTally, type Options, type Outcome, type Scenario } from './outcome.ts';
import { createRandom } from './random.ts';
import type { Result } from './table.ts';

/** The scenarios test durability, so PostgreSQL flushes writes as in production. */
export const durableSettings = ['fsync=on', 'full_page_writes=on', 'max_connections=200'];

export type RunOptions = {
  isQuickRun: boolean;
  rounds?: number | undefined;
  seed: number;
  soakMinutes?: number;
  minutes?: number | undefined;
  instanceCount?: number;
  log?: (text: string) => void;
};

/** Runs scenarios sequentially, so that they do not affect each other's timing. `stop` ends all their processes. */
export function createRunner({
  isQuickRun,
  rounds,
  seed,
  soakMinutes = 0,
  minutes,
  instanceCount = 3,
  log = () => {},
}: RunOptions) {
  const afterAll = createCleanup();
  let current = createCleanup();
  let postgres: Promise<PostgresServer> | undefined;

  async function getPostgres(): Promise<PostgresServer> {
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
      isQuickRun,
      rounds: (full, quick) => rounds ?? (isQuickRun ? quick : full),
      random: createRandom(seed),
      tally: createTally(),
      cleanup,
      postgres: getPostgres,
      soakMinutes,
      minutes,
      instanceCount,
      slackMs: isQuickRun ? 5000 : 1000,
      log: (text) => log(`${scenario.name}: ${text}`),
    };
    const outcome = await withinLimit(scenario, options);
    await cleanup.run();
    // An aborted scenario may leave the server killed or frozen.
    if (outcome.failures.some((failure) => failure.startsWith(abortedPrefix))) {
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

const abortedPrefix = 'The scenario was aborted';

async function withinLimit(scenario: Scenario, options: Options): Promise<Outcome> {
  const timer = new AbortController();
  const abort = (reason: string) => {
    options.tally.failures.unshift(`${abortedPrefix}: ${reason}`);
    return options.tally;
  };
  const running = scenario.run(options).catch((error: Error) => abort(error.message));
  const limit = setTimeout(scenario.limitMs, undefined, { signal: timer.signal }).then(
    () => abort(`it took longer than ${scenario.limitMs / 1000} s`),
    () => options.tally,
  );
  const outcome = await Promise.race([running, limit]);
  timer.abort();
  return outcome;
}
