import type { PostgresServer } from '../postgres-server.ts';
import type { Cleanup } from './cleanup.ts';
import type { Random } from './random.ts';

/** One way in which the machine, the database or a client can fail, and what the service must do then. */
export type Scenario = {
  name: string;
  /** Ends the scenario as failed when it takes longer. */
  limitMs: number;
  /** Whether the short run includes it. */
  isIndexed: boolean;
  run(options: Options): Promise<Outcome>;
};

export type Options = {
  isIndexed: boolean;
  /** The number of rounds asked for on the command line, or else this scenario's own number. */
  rounds(full: number, quick: number): number;
  random: Random;
  /** What has been counted so far also holds when the scenario does not come to its end. */
  tally: Tally;
  cleanup: Cleanup;
  /** One server for all scenarios of a run, with durable writes; started at the first use. */
  postgres(): Promise<PostgresServer>;
  soakMinutes: number;
  log(text: string): void;
};

export type Outcome = {
  rounds: number;
  /** Writes that the service confirmed with 200, 201 or 204. */
  acknowledged: number;
  /** Acknowledged writes that were gone, or changed, afterwards. */
  lost: number;
  /** Reads that showed less than what was acknowledged before they began. */
  stale: number;
  responses500: number;
  /** Of `/livez`; null where it was not probed. */
  longestStallMs: number | null;
  /** What must not happen and did. */
  failures: string[];
  /** Measured numbers that a reader of the table may want. */
  notes: string[];
  /** Why this machine cannot run the scenario. */
  skipped?: string;
};

export type Tally = Outcome & {
  fail(sentence: string): void;
  note(sentence: string): void;
  stall(ms: number): void;
};

/** Enough to see what went wrong; the numbers in the table are complete. */
const maxSentences = 12;

/** What a scenario counts while it runs. */
export function createTally(): Tally {
  return {
    rounds: 0,
    acknowledged: 0,
    lost: 0,
    stale: 0,
    responses500: 0,
    longestStallMs: null,
    failures: [],
    notes: [],
    fail(sentence) {
      const shown = withoutIds(sentence);
      if (this.failures.length < maxSentences && !this.failures.includes(shown)) this.failures.push(shown);
    },
    note(sentence) {
      this.notes.push(sentence);
    },
    stall(ms) {
      this.longestStallMs = Math.max(this.longestStallMs ?? 0, Math.round(ms));
    },
  };
}

export const hasPassed = (outcome: Outcome) =>
  outcome.failures.length === 0 && outcome.lost === 0 && outcome.stale === 0 && outcome.responses500 === 0;

/** Ids, ports and random names differ each time, and one sentence of a kind is enough. */
const withoutIds = (sentence: string) =>
  sentence
    .replace(/\b([a-z]{3}_)[0-9a-z]{26}\b/g, '$1…')
    .replace(/\b[wi][0-9a-f]{32}\b/g, '…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1');
