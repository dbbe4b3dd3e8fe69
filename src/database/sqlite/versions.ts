import type Sqlite from 'better-sqlite3';
import type { TableName } from '../tables.ts';
import type { Versions } from '../versions.ts';

/**
 * The versions of the tables, read anew only when another connection, of this process or another, has committed
 * something: SQLite tells that within microseconds, from memory shared by all that have the file open.
 */
export class SqliteVersions {
  readonly #connect: () => Sqlite.Database;
  #connection?: Sqlite.Database;
  #commits?: Sqlite.Statement;
  #rows?: Sqlite.Statement;
  #seen: unknown;
  #versions?: Versions;

  constructor(connect: () => Sqlite.Database) {
    this.#connect = connect;
  }

  read(): Versions {
    this.#connection ??= this.#connect();
    this.#commits ??= this.#connection.prepare('pragma data_version').pluck();
    // Before the rows: what is committed between the two is noticed the next time.
    const commits = this.#commits.get();
    if (this.#versions && commits === this.#seen) return this.#versions;
    this.#rows ??= this.#connection.prepare('select table_name, version from data_versions').raw();
    this.#versions = Object.fromEntries(this.#rows.all() as [TableName, number][]) as Versions;
    this.#seen = commits;
    return this.#versions;
  }

  close(): void {
    this.#connection?.close();
  }
}
