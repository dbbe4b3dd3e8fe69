import type { Cleanup } from '../cleanup.ts';
import type { PostgresServer } from '../postgres-server.ts';
import type { Random } from './random.ts';

/** A failure of the machine, the database or a client, with the checks of the service's behavior. */
export type Scenario = {
  name: string;
  /** The scenario fails when it takes longer. */
  maxMinutes: number;
  /** Whether the quick run includes it. */
  isInQuickRun: boolean;
  /** Counts what it finds in the tally. */
  run(options: Options): Promise<void>;
};

export type Options = {
  isQuickRun: boolean;
  /** The number of rounds from the command line, or the scenario's default. */
  rounds(full: number, quick: number): number;
  random: Random;
  tally: Tally;
  cleanup: Cleanup;
  /** One server for all scenarios of a run, with durable writes; started at the first use. */
  postgres(): Promise<PostgresServer>;
  soakMinutes: number;
  /** How long to restart instances, instead of a number of rounds, and how long mixed writers run. */
  minutes: number | undefined;
  /** Added to every time limit: the quick run shares the machine with other tests. */
  slackMs: number;
  log(text: string): void;
};

export type Tally = ReturnType<typeof createTally>;

/** Limits the printed failures; the counts in the table are complete. */
const maxSentences = 12;

/** Creates the counters of a scenario. */
export const createTally = () => ({
  rounds: 0,
  /** Writes that the service confirmed with 200, 201 or 204. */
  acknowledged: 0,
  /** Acknowledged writes that were missing or changed afterwards. */
  lost: 0,
  /** Reads that missed a write acknowledged before they began. */
  stale: 0,
  responses500: 0,
  /** The most CPU time that one turn of the event loop took; null when the scenario does not measure it. */
  maxStallMs: null as number | null,
  /** The longest response time of `/livez`, which depends on the load of the machine. */
  maxLivezMs: null as number | null,
  /** Violated guarantees. */
  failures: [] as string[],
  /** Additional measurements. */
  notes: [] as string[],
  /** Why this machine cannot run the scenario. */
  skipped: undefined as string | undefined,

  fail(sentence: string): void {
    const shown = withoutIds(sentence);
    if (this.failures.length < maxSentences && !this.failures.includes(shown)) this.failures.push(shown);
  },
  note(sentence: string): void {
    this.notes.push(sentence);
  },
  stall(ms: number, livezMs: number): void {
    this.maxStallMs = Math.max(this.maxStallMs ?? 0, Math.round(ms));
    this.maxLivezMs = Math.max(this.maxLivezMs ?? 0, Math.round(livezMs));
  },
});

export const hasPassed = ({ failures, lost, stale, responses500 }: Tally) =>
  failures.length === 0 && lost === 0 && stale === 0 && responses500 === 0;

/** Removes ids, ports and random names, so that equal failures are printed once. */
const withoutIds = (sentence: string) =>
  sentence
    .replace(/\b([a-z]{3}_)[0-9a-z]{26}\b/g, '$1…')
    .replace(/\b[wi][0-9a-f]{32}\b/g, '…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1');
