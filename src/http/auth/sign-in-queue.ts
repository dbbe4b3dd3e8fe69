import { availableParallelism } from 'node:os';
import type { Config } from '../../config.ts';
import { Problem, unavailable } from '../../core/errors.ts';

/** Who waits: a network or, if the person has signed in there before, the person there or the browser. They go first. */
export type Turn = {
  of: string;
  isKnown: boolean;
  /** The network of a known person, for which their failures count too. */
  network?: string;
  /** Whether the client has closed its connection. */
  isGone?: () => boolean;
};

type Waiting = Turn & { start(): void; refuse(problem: Problem): void };

const minute = 60_000;
const maxWaiting = 1000;
const maxTracked = 10_000;

/** After this many failures within a minute, a network comes after all others, and has few waiting. */
const maxTrustedFailures = 5;
const maxWaitingUntrusted = 2;
/** One person or browser, however many attempts are sent at once. */
const maxWaitingKnown = 5;

export type SignInQueue = ReturnType<typeof createSignInQueue>;

/**
 * Runs what hashes a password: a few at once, because each takes a thread and 19 MiB. Networks take turns, so that nobody
 * who guesses keeps others waiting, and one that has failed too often is rejected before it costs a hash.
 */
export function createSignInQueue(
  { failed_auth_limit, thread_pool }: Pick<Config, 'failed_auth_limit' | 'thread_pool'>,
  now: () => number,
) {
  // Files, name resolution and flushes use the same threads.
  const maxRunning = Math.max(1, Math.min(availableParallelism(), thread_pool - 2));
  const limit = failed_auth_limit || Number.POSITIVE_INFINITY;
  /** The times of the failures, by who failed. */
  const failures = new Map<string, number[]>();
  const known = new Map<string, Waiting[]>();
  const others = new Map<string, Waiting[]>();
  const running = new Map<string, number>();
  const counts = { hashes: 0, running: 0, waiting: 0 };

  const failuresOf = (of: string) => {
    const at = now();
    return (failures.get(of) ?? []).filter((time) => Math.abs(at - time) < minute);
  };
  const failed = (of: string) => failuresOf(of).length;
  /** Attempts that run may fail, so no more of them begin than may still fail. */
  const failedOrRunning = (of: string) => failed(of) + (running.get(of) ?? 0);
  /** Where a network may not fail any more, each person who is known there still has one attempt. */
  const isOver = ({ of, network }: Turn, count: (of: string) => number) =>
    count(of) >= limit || (network !== undefined && count(network) >= limit && count(of) > 0);
  const keysOf = ({ of, network }: Turn) => (network === undefined ? [of] : [of, network]);

  function recordFailure(of: string): void {
    const times = [...failuresOf(of), now()];
    failures.delete(of);
    if (failures.size >= maxTracked) failures.delete(failures.keys().next().value as string);
    failures.set(of, times);
    if (times.length < maxTrustedFailures) return;
    for (const left of others.get(of)?.splice(maxWaitingUntrusted) ?? []) refuse(left, tooManyAtOnce());
  }

  function refuse(waiting: Waiting, problem: Problem): void {
    counts.waiting--;
    waiting.refuse(problem);
  }

  function tooManyFailures(times: readonly number[]): Problem {
    const seconds = Math.max(1, Math.ceil(((times[0] ?? 0) + minute - now()) / 1000));
    return limited('Too many failed authentication attempts from your address.', seconds);
  }

  function add(waiting: Waiting): void {
    const { of, isKnown } = waiting;
    if (isOver(waiting, failed)) throw tooManyFailures(failuresOf(of));
    const queues = isKnown ? known : others;
    const queue = queues.get(of) ?? [];
    const isTrusted = isKnown || failed(of) < maxTrustedFailures;
    const maxOwn = isKnown ? maxWaitingKnown : isTrusted ? maxWaiting + 1 : maxWaitingUntrusted;
    if (queue.length >= maxOwn) throw tooManyAtOnce();
    if (counts.waiting >= maxWaiting) makeRoom(isKnown ? 0 : queue.length + 1);
    queue.push(waiting);
    queues.set(of, queue);
    counts.waiting++;
  }

  /** Rejects the last of those who have the most waiting, if these are more than `own`. */
  function makeRoom(own: number): void {
    const [most] = [...others.values()].sort((a, b) => b.length - a.length);
    const last = most && most.length > own ? most.pop() : undefined;
    if (!last) throw tooBusy();
    refuse(last, tooBusy());
  }

  function takeNext(): Waiting | undefined {
    for (const queues of [known, others]) {
      let untrusted: string | undefined;
      for (const [of, queue] of queues) {
        const [next] = queue;
        if (next && isOver(next, failed))
          for (const one of queue.splice(0)) refuse(one, tooManyFailures(failuresOf(of)));
        if (!next || queue.length === 0) queues.delete(of);
        else if (isOver(next, failedOrRunning)) continue;
        else if (!next.isKnown && failed(of) >= maxTrustedFailures) untrusted ??= of;
        else return take(queues, of);
      }
      if (untrusted !== undefined) return take(queues, untrusted);
    }
    return undefined;
  }

  function take(queues: Map<string, Waiting[]>, of: string): Waiting | undefined {
    const queue = queues.get(of) ?? [];
    const waiting = queue.shift();
    counts.waiting--;
    // The next turn of this network is after those of all others.
    queues.delete(of);
    if (queue.length > 0) queues.set(of, queue);
    return waiting;
  }

  function startWaiting(): void {
    while (counts.running < maxRunning) {
      const next = takeNext();
      if (!next) return;
      if (next.isGone?.()) next.refuse(tooBusy());
      else {
        counts.running++;
        counts.hashes++;
        for (const key of keysOf(next)) running.set(key, (running.get(key) ?? 0) + 1);
        next.start();
      }
    }
  }

  return {
    /** How many hashes began, run and wait. */
    counts,

    /** Runs the work in its turn. If it returns false, the attempt has failed. */
    async run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
      await new Promise<void>((start, refuse) => {
        add({ ...turn, start, refuse });
        startWaiting();
      });
      try {
        const result = await work();
        if (result === false) for (const key of keysOf(turn)) recordFailure(key);
        return result;
      } finally {
        counts.running--;
        for (const key of keysOf(turn)) {
          const left = (running.get(key) ?? 1) - 1;
          if (left > 0) running.set(key, left);
          else running.delete(key);
        }
        startWaiting();
      }
    },
  };
}

const limited = (what: string, seconds: number) =>
  new Problem('rate_limited', `${what} Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });

const tooManyAtOnce = () => limited('Too many attempts to sign in at once from your address.', 2);

const tooBusy = () => unavailable('Too many people are signing in at once. Try again in a moment.', 2);
