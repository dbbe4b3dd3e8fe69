import { EventEmitter } from 'node:events';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Config } from '../../config.ts';

/** The values of all metrics of a process. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[];

/** `count` requests of `id`, the last of them at the time `at`. */
export type Charge = { id: string; perMinute: number; count: number; at: number };

/** What all workers need to know of the requests that one of them has counted. */
export type Charges = { type: 'charges'; limiter: string; charges: Charge[] };

export type FromWorker =
  | Charges
  | { type: 'ready'; greeting: string; port: number }
  /** Asks for the metrics of all workers. The response has the same number. */
  | { type: 'scrape'; number: number }
  | { type: 'metrics'; number: number; values: MetricValues }
  /** Asks for the right to write, and gives it back. */
  | { type: 'take turn' | 'end turn' };

export type ToWorker =
  | Charges
  | { type: 'start'; config: Config; isFirst: boolean }
  | { type: 'stop' }
  /** Asks for the metrics of this worker. The response has the same number. */
  | { type: 'collect'; number: number }
  | { type: 'scraped'; number: number; text: string; contentType: string }
  /** The worker may write. `isWanted` reports whether another one waits, which `turn wanted` reports later. */
  | { type: 'turn'; isWanted: boolean }
  | { type: 'turn wanted' };

/** The primary process of this worker, and through it the other workers. */
export type Peers = {
  send(message: FromWorker): void;
  on<T extends ToWorker['type']>(type: T, listener: (message: Extract<ToWorker, { type: T }>) => void): void;
};

export function connectToPrimary(): Peers {
  const received = new EventEmitter();
  process.on('message', (message: ToWorker) => received.emit(message.type, message));
  return {
    // When the primary process is gone, Node ends this one.
    send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    on: (type, listener) => void received.on(type, listener),
  };
}
