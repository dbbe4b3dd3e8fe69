import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { openDatabase } from '../store/open.ts';

/** Builds the OpenAPI document with default settings, so that it is the same on every machine. */
export async function openapiDocument(): Promise<string> {
  const config = readConfig({});
  const database = openDatabase(config.database_url);
  const app = await createApp({ config, database, clock: systemClock, readiness: { state: 'ready' } });
  await app.ready();
  const document = { ...app.swagger(), servers: [{ url: `http://${config.host}:${config.port}` }] };
  await app.close();
  return `${JSON.stringify(document, null, 2)}\n`;
}
