import { type Kysely, sql, type Transaction } from 'kysely';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { consoleUrl, jsonBoolean } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson } from '../../database/sql/rows.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { addEvent, setEventData, subjectOf } from '../../store/writes/events.ts';
import { recordCreated, recordHistory } from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { deleteRow, insertRows, laterThan } from '../../store/writes/rows.ts';
import {
  maxContentLength,
  maxReports,
  Report,
  type ReportContent,
  type ReportInput,
  reportResource,
  reportSections,
} from './schema.ts';

const reportJson = rowAsJson(Report, 'reports', {
  all_projects: jsonBoolean(sql`reports.all_projects = 1`),
  web_url: consoleUrl('/reports/', sql.ref('reports.id')),
});

/** All reports, newest first. */
export const reportList = (): List =>
  memoizedList(['reports'], () => ({
    schema: Report,
    json: reportJson,
    reads: ['reports'],
    order: { key: sql.ref('reports.id'), descending: true },
    from: (db) => db.selectFrom('reports'),
    id: sql.ref('reports.id'),
    matches: sql<boolean>`1 = 1`,
  }));

export async function getReport(db: Kysely<Tables>, id: string): Promise<Report> {
  const { json } = await db
    .selectFrom('reports')
    .select(reportJson.as('json'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('report', id));
  return JSON.parse(json);
}

export async function getReportContent(db: Kysely<Tables>, id: string): Promise<ReportContent> {
  const { content } = await db
    .selectFrom('reports')
    .select('content')
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('report', id));
  return JSON.parse(content);
}

const reportSubject = subjectOf(reportResource, () => reportJson);

/** What the service has read for a report. */
export type Snapshot = { content: ReportContent; project_ids: string[] };

export async function createReport(
  db: Transaction<Tables>,
  input: ReportInput,
  { content, project_ids }: Snapshot,
  change: Change,
): Promise<Report> {
  const { title, since, audience = null, commentary = null, project } = input;
  const { length = 'five_pages', sections = reportSections } = input;
  const { project_commentary = [], risk_commentary = [] } = input;
  const text = JSON.stringify(content);
  rejectUnknownSubjects(input, content);
  // Otherwise transactions on PostgreSQL that count at the same time would all find room.
  await lockTables(db, 'reports');
  const { stored } = await db
    .selectFrom('reports')
    .select((eb) => eb.fn.countAll<number>().as('stored'))
    .executeTakeFirstOrThrow();
  if (stored >= maxReports || text.length > maxContentLength) {
    const detail =
      stored >= maxReports
        ? `There are ${maxReports} reports. Delete one of them first.`
        : 'The report would be too large. Choose fewer projects.';
    throw invalidBody([fieldError('project', 'maxItems', detail)]);
  }
  const id = newId('report');
  await insertRows(db, 'reports', [
    {
      id,
      title,
      day: change.today,
      since,
      audience,
      commentary,
      length,
      // In the order of the report.
      sections: JSON.stringify(reportSections.filter((section) => sections.includes(section))),
      project_commentary: JSON.stringify(project_commentary),
      risk_commentary: JSON.stringify(risk_commentary),
      project_ids: JSON.stringify(project_ids),
      all_projects: project === undefined ? 1 : 0,
      author_name: change.name,
      content: text,
      ...newStamps(change.now),
    },
  ]);
  await recordCreated(db, reportSubject, [{ id, label: title }], change);
  return setEventData(db, id, await getReport(db, id));
}

/** A comment on what the report does not show would never be read. */
function rejectUnknownSubjects(input: ReportInput, content: ReportContent): void {
  const { projects, top_risks, opportunities } = content;
  const projectIds = new Set(projects.items.map(({ id }) => id));
  const ofProjects = projects.items.flatMap(({ page }) => page?.top_risks ?? []);
  const riskIds = new Set([...top_risks, ...opportunities, ...ofProjects].map(({ id }) => id));
  const unknown = (field: string, index: number, what: string) =>
    fieldError(`${field}/${index}`, 'unknown_reference', `The report does not show this ${what}.`);
  const errors = [
    ...(input.project_commentary ?? []).flatMap(({ project_id }, i) =>
      projectIds.has(project_id) ? [] : [unknown('project_commentary', i, 'project')],
    ),
    ...(input.risk_commentary ?? []).flatMap(({ risk_id }, i) =>
      riskIds.has(risk_id) ? [] : [unknown('risk_commentary', i, 'risk')],
    ),
  ];
  if (errors.length > 0) throw invalidBody(errors);
}

export async function deleteReport(
  db: Transaction<Tables>,
  current: Report,
  requested: Change,
): Promise<void> {
  const change = laterThan(requested, current);
  const { id, title } = current;
  await deleteRow(db, 'reports', current);
  const differences = { deleted: { from: title, to: null } };
  await recordHistory(db, [{ subject_id: id, at: change.now, differences }], change);
  const given = { data: current };
  addEvent(db, { subject: reportSubject, subject_id: id, at: change.now, change, differences, given });
}
