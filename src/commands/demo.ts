import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addActivity } from '../../demo/activity.ts';
import { type Counts, fillDemo } from '../../demo/fill.ts';
import { inviteDemoPerson } from '../../demo/sign-in.ts';
import { type Config, fileDatabaseUrl } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import type { App } from '../http/fastify.ts';
import { curl, signInUrl, startService, stopWithGrace } from './serve.ts';

/** Runs the service with sample data in a temporary database, which is deleted when the process exits. */
export async function demo(config: Config, print: (text: string) => void): Promise<void> {
  const database_url = fileDatabaseUrl(join(createTemporaryFolder(), 'muster.db'));
  const counts = Promise.withResolvers<Counts>();
  const { app, first } = await startService(
    { ...config, database_url, first_key_file: undefined },
    systemClock,
    async ({ database, clock }) => {
      counts.resolve(await fillDemo(database, clock()));
      await addActivity(database, clock());
    },
  );
  try {
    const { name, token } = await inviteDemoPerson(app.database, app.clock());
    stopWithGrace(app);
    print(greeting(app, await counts.promise, first?.key ?? '', { name, url: signInUrl(app, token) }));
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** The folder is removed synchronously, because an exiting process cannot await. */
function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-demo-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function greeting(app: App, counts: Counts, key: string, link: { name: string; url: string }): string {
  const { people, groups, projects, risks, issues, tasks } = counts;
  const examples = [
    '/v1/risks?limit=5',
    '/v1/issues?severity=critical',
    '/v1/personnel?q=mull',
    '/v1/projects/APOLLO/risks?status=active&review_overdue=true',
  ];
  return `The demo is ready at ${app.baseUrl}
  docs  ${app.baseUrl}/docs
  data  a fictional railway: ${people} people in ${groups} groups, ${projects} projects, ${risks} risks,
        ${issues} issues, ${tasks} tasks; deleted when you stop the demo

Open the console as ${link.name} (the link works once):

  ${link.url}

A key with all scopes, for programs:

  ${key}

Try it:

${examples.map((path) => `  ${curl(app, key, path)}`).join('\n')}
`;
}
