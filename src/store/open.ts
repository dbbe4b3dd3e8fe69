import type { Application } from '../database/application.ts';
import { createDatabase } from '../database/open.ts';
import { createTables, migrate, migrationState } from './migrate.ts';
import { appendEvents } from './writes/events.ts';
import { bumpVersions, renewVersions } from './writes/table-versions.ts';

const application: Application = {
  recordTransaction: bumpVersions,
  recordWrite: appendEvents,
  renewVersions,
  migrate,
  createTables,
  migrationState,
};

type Options = Parameters<typeof createDatabase> extends [Application, ...infer Rest] ? Rest : never;

/** Opens the database of the service: see `createDatabase`. */
export const openDatabase = (...options: Options) => createDatabase(application, ...options);
