import type Sqlite from 'better-sqlite3';
import type { Versions } from '../versions.ts';

/**
 * Caches the versions of the tables until another connection, in this or another process, commits. `pragma data_version`
 * detects that within microseconds, from shared memory.
 */
export class SqliteVersions {
  readonly #connect: () => Sqlite.Database;
  #connection?: Sqlite.Database;
  #dataVersion?: Sqlite.Statement;
  #rows?: Sqlite.Statement;
  #lastDataVersion: unknown;
  #versions?: Versions;

  constructor(connect: () => Sqlite.Database) {
    this.#connect = connect;
  }

  read(): Versions {
    this.#connection ??= this.#connect();
    this.#dataVersion ??= this.#connection.prepare('pragma data_version').pluck();
    // Read before the rows, so that a commit between the two reads is detected by the next call.
    const dataVersion = this.#dataVersion.get();
    if (this.#versions && dataVersion === this.#lastDataVersion) return this.#versions;
    this.#rows ??= this.#connection.prepare('select table_name, version from data_versions').raw();
    this.#versions = Object.fromEntries(this.#rows.all() as [string, number][]) as Versions;
    this.#lastDataVersion = dataVersion;
    return this.#versions;
  }

  close(): void {
    this.#connection?.close();
  }
}
