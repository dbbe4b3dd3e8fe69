import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Counts, fillDemo } from '../../demo/fill.ts';
import type { Config } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import type { App } from '../http/fastify.ts';
import { curl, startService, stopWithGrace } from './serve.ts';

/** Runs the service on a made-up organization, which is gone when the process ends. */
export async function demo(config: Config, print: (text: string) => void): Promise<void> {
  const database_url = `sqlite:${join(throwAwayFolder(), 'muster.db')}`;
  const { app, firstKey = '' } = await startService({ ...config, database_url });
  try {
    const counts = await fillDemo(app.database, systemClock());
    print(greeting(app, counts, firstKey));
  } catch (error) {
    await app.close();
    throw error;
  }
  stopWithGrace(app);
}

/** Nothing can be awaited while a process ends, hence the synchronous removal. */
function throwAwayFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-demo-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function greeting(app: App, counts: Counts, key: string): string {
  const { people, groups, projects, risks, issues, tasks } = counts;
  const tries = [
    '/v1/risks?limit=5',
    '/v1/issues?severity=critical',
    '/v1/personnel?q=mull',
    '/v1/projects/APOLLO/risks?status=active&review_overdue=true',
  ];
  return `The demo is ready at ${app.baseUrl}
  docs  ${app.baseUrl}/docs
  data  a made-up railway: ${people} people in ${groups} groups, ${projects} projects, ${risks} risks,
        ${issues} issues, ${tasks} tasks; all of it is removed when you stop the demo

A key with every scope:

  ${key}

Try it:

${tries.map((path) => `  ${curl(app, key, path)}`).join('\n')}
`;
}
