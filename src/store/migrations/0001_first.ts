import type { Kysely } from 'kysely';
import type { EngineKind } from './0001_builders.ts';
import { createEvents, createHistory, createWebhooks } from './0001_log.ts';
import { createGroups, createPeople } from './0001_people.ts';
import { createComments, createIssues, createProjects, createTasks } from './0001_projects.ts';
import { createRisks } from './0001_risks.ts';
import { createKeys, createService } from './0001_service.ts';

/** The tables of version 0.2.0. A table comes after the tables that it refers to. */
export async function up(db: Kysely<unknown>, kind: EngineKind): Promise<void> {
  const { schema } = db;
  await createPeople(db, kind);
  await createGroups(schema);
  await createProjects(schema);
  await createRisks(schema);
  await createIssues(schema);
  await createTasks(schema);
  await createComments(schema);
  await createKeys(schema);
  await createHistory(schema, kind);
  await createEvents(schema, kind);
  await createWebhooks(schema);
  await createService(db);
}
