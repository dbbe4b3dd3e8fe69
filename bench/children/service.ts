import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Database } from '../../src/database/open.ts';
import { createFirstKey } from '../../src/resources/keys/queries.ts';
import { openDatabase } from '../../src/store/open.ts';
import { trackerOf } from '../../src/store/writes/tracker.ts';

/** Runs the service from the sources. Without events, transactions drop their events before they are written. */
export type ServiceOptions = { hasEvents: boolean };

const { hasEvents }: ServiceOptions = JSON.parse(process.argv[2] ?? '');
const config = readConfig(process.env);
const database = openDatabase(config.database_url);
await database.migrate();
const key = await database.write((db) => createFirstKey(db, systemClock()));
const writeWithoutEvents: Database['write'] = (work, workload) =>
  database.write(async (db, hasWaiters) => {
    const result = await work(db, hasWaiters);
    trackerOf(db)?.events.splice(0);
    return result;
  }, workload);
const app = await createApp({
  config,
  database: hasEvents ? database : { ...database, write: writeWithoutEvents },
  clock: systemClock,
  readiness: { state: 'ready' },
});
await app.listen({ host: config.host, port: config.port });
console.log(`The service is ready at ${app.baseUrl}\n${key?.secret}`);
