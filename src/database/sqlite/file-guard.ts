import { rmSync } from 'node:fs';
import { type FileIdentity, fileMoved, identify, isSameFile } from './file.ts';

export type Report = (level: 'fatal' | 'warn', message: string) => void;

/** How long a removed or replaced file stays unnoticed while nothing is written. */
const checkIntervalMs = 1000;

/**
 * Watches that the path still leads to the file that is open. A file that was removed or replaced under the service
 * can still be written to, but what is written is lost when the service ends.
 */
export class FileGuard {
  readonly #file: string;
  readonly #report: Report;
  #expected: FileIdentity | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLost = false;
  /** The size of the write-ahead log at the last check. */
  walBytes = 0;

  constructor(file: string, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  get expected(): FileIdentity | undefined {
    return this.#expected;
  }

  /** Remembers which file the first connection has opened. */
  noteOpened(): void {
    this.#expected ??= identify(this.#file);
    this.#timer ??= setInterval(() => this.#look(), checkIntervalMs).unref();
  }

  /** Looks at the file. A write is acknowledged only after this. */
  check(): void {
    this.#look();
    this.assertUsable();
  }

  /** Costs nothing: it knows what the last look found. */
  assertUsable(): void {
    if (this.#isLost) throw fileMoved();
  }

  /** The last connection to close deletes the write-ahead log by its name: it must not be another's. */
  canClose(): boolean {
    const wal = this.#find()?.wal;
    return wal === undefined || wal === this.#expected?.wal;
  }

  /**
   * Where another file is in the database's place, the log that is left would be applied to that one at the next start.
   * Where there is none, the log stays: it tells the next start that it is not the first.
   */
  stop(): void {
    clearInterval(this.#timer);
    const found = this.#find();
    if (!found || !this.#expected) return;
    const { database, wal, walFile } = this.#expected;
    if (found.database !== database && found.wal === wal) rmSync(walFile, { force: true });
  }

  #find() {
    return identify(this.#file, this.#expected?.walFile);
  }

  #look(): void {
    if (!this.#expected) return;
    const found = this.#find();
    const isLost = !isSameFile(found, this.#expected);
    this.walBytes = found?.walBytes ?? 0;
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    if (isLost) this.#report('fatal', `The database file ${this.#file} ${whatHappened}`);
    else this.#report('warn', `The database file ${this.#file} is back. Requests are served again.`);
  }
}

/** Without the path, which is for the log alone. */
export const whatHappened =
  'or its write-ahead log was removed or replaced while the service was running. Nothing can be written or read until it is restored or the service is restarted.';
