import { renameSync, rmSync } from 'node:fs';
import type { Report } from '../../engine.ts';
import { type FileIdentity, fileMoved, identify, isSameFile } from './file.ts';

/** How often the file is checked while there are no writes. */
const checkIntervalMs = 1000;

/**
 * Checks that the path still refers to the open file. If the file was removed or replaced, SQLite can still write to the
 * open one, but those writes are lost when the service ends.
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

  /** Stores the identity of the file when the first connection opens it. */
  noteOpened(): void {
    this.#expected ??= identify(this.#file);
    this.#timer ??= setInterval(() => this.#update(), checkIntervalMs).unref();
  }

  /** Checks the file now. A write is acknowledged only after this. */
  check(): void {
    this.#update();
    this.assertUsable();
  }

  /** Uses the result of the last check, so it is cheap. */
  assertUsable(): void {
    if (this.#isLost) throw fileMoved();
  }

  /** The last connection to close deletes the write-ahead log by name, so the log must still be the same file. */
  canClose(): boolean {
    const wal = this.#find()?.wal;
    return wal === undefined || wal === this.#expected?.wal;
  }

  /**
   * Stops the checks. If the database was replaced, removes the old log: the next start would apply it to the new file.
   * `saveLog` first writes its contents to the open file, so that nothing is lost if that file is put back. If the database
   * is missing, the log stays, so that the next start reports the missing file instead of creating one.
   */
  stop(saveLog: () => boolean): void {
    clearInterval(this.#timer);
    const found = this.#find();
    if (!found || !this.#expected) return;
    const { database, wal, walFile } = this.#expected;
    if (found.database === database || found.wal !== wal) return;
    if (saveLog()) rmSync(walFile, { force: true });
    else {
      renameSync(walFile, `${walFile}.old`);
      this.#report('warn', `The write-ahead log of the replaced database is now ${walFile}.old.`);
    }
  }

  #find() {
    return identify(this.#file, this.#expected?.walFile);
  }

  #update(): void {
    if (!this.#expected) return;
    const found = this.#find();
    const isLost = !isSameFile(found, this.#expected);
    this.walBytes = found?.walBytes ?? 0;
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    if (isLost) this.#report('fatal', `The database file ${this.#file} ${fileLostText}`);
    else this.#report('warn', `The database file ${this.#file} is back. The service accepts requests again.`);
  }
}

/** Does not contain the path, because API clients read it. */
export const fileLostText =
  'or its write-ahead log was removed or replaced while the service was running. Reads and writes fail until it is restored or the service is restarted.';
