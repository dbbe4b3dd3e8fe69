import { type Kysely, sql } from 'kysely';
import { daysLater, endOf, type Moment } from '../../core/clock.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import { issueList, issueTables } from '../issues/queries.ts';
import { openStatuses } from '../issues/schema.ts';
import { summarizeIssues } from '../issues/summaries.ts';
import { projectList } from '../projects/queries.ts';
import type { Project } from '../projects/schema.ts';
import { type Register, type RiskFilters, riskList, riskTables } from '../risks/register.ts';
import type { Risk } from '../risks/schema.ts';
import { getRiskHeatmap, summarizeRisks } from '../risks/summaries.ts';
import { readChanges } from './changes.ts';
import { readDates } from './dates.ts';
import {
  inProjects,
  pickAll,
  readFirst,
  readRows,
  type Source,
  type Subject,
  withScoreThen,
} from './rows.ts';
import {
  maxRows,
  type ReportContent,
  ReportIssue,
  ReportProject,
  ReportRanking,
  ReportRisk,
  ReportTopRisk,
} from './schema.ts';

/** The tables that a report depends on. */
export const reportTables = [...new Set([...riskTables, ...issueTables, 'tasks' as const])];

/** Reads everything that a report contains, from one snapshot. */
export async function readContent(source: Source, subject: Subject): Promise<ReportContent> {
  const { db } = source;
  const { moment, since } = subject;
  const active = (filters: RiskFilters = {}): Register => ({
    filters: { ...inProjects(subject), status: ['active'], ...filters },
    moment,
  });
  const threats = active({ kind: ['threat'] });
  const ranked = async (register: Register, limit: number) =>
    withScoreThen(db, await readRows<Risk>(source, riskList(register, 'rank'), limit), endOf(since, moment));
  const topRisks = async (register: Register, limit: number) =>
    withNextTasks(db, await ranked(register, limit));
  const after = await readRegister(db, threats);
  const { by_check } = await summarizeRisks({ db }, active(), 1, {});
  const issues = { ...inProjects(subject), status: [...openStatuses] };
  const openIssues = await summarizeIssues({ db }, issues, moment, 1, {});
  const overdue = issueList({ ...issues, overdue: true }, moment);
  return {
    register: { before: await readRegister(db, { ...threats, as_of: since }), after },
    issues: { open: openIssues.total, overdue: openIssues.overdue },
    top_risks: await topRisks(threats, maxRows.top),
    opportunities: await topRisks(active({ kind: ['opportunity'] }), maxRows.opportunities),
    decisions: await Promise.all(
      decisionChecks.map(async (check) => ({
        check,
        total: by_check.find((one) => one.check === check)?.count ?? 0,
        items: pickAll(
          ReportRisk,
          await readRows(source, riskList(active({ check: [check] }), 'rank'), maxRows.decisions),
        ),
      })),
    ),
    blocked_issues: await readFirst(
      source,
      issueList({ ...issues, status: ['blocked'] }, moment),
      ReportIssue,
      maxRows.decisions,
    ),
    dates: await readDates(source, subject),
    changes: {
      ...(await readChanges(db, subject)),
      ...(await readIssueChanges(source, subject)),
    },
    overdue_issues: {
      total: openIssues.overdue,
      items: pickAll(ReportIssue, await readRows(source, overdue, maxRows.issues)),
    },
    projects: await readProjects(source, subject, ranked),
    ranking: pickAll(ReportRanking, await readRows(source, riskList(threats, 'rank'), maxRows.register)),
  };
}

/** What someone has to decide, most urgent first. */
const decisionChecks = [
  'acceptance_expiring',
  'unowned',
  'owner_inactive',
  'no_response_plan',
  'review_overdue',
] as const;

async function readRegister(db: Kysely<Tables>, register: Register) {
  const { total, unassessed, by_level } = await summarizeRisks({ db }, register, 1, {});
  const cells = await getRiskHeatmap(db, register);
  return { total, unassessed, by_level, cells: cells.map(({ top, ...cell }) => cell) };
}

/** Adds the open task of each risk that is due first. */
async function withNextTasks(db: Kysely<Tables>, risks: readonly { id: string }[]) {
  const tasks = await db
    .selectFrom('tasks')
    .leftJoin('people', 'people.user_id', 'tasks.assignee_user_id')
    .select(['tasks.risk_id', 'tasks.key', 'tasks.title', 'tasks.due_on', 'people.name as assignee_name'])
    .where(
      inJsonArray(
        sql.ref('tasks.risk_id'),
        risks.map(({ id }) => id),
      ),
    )
    .where('tasks.open', '=', 1)
    .orderBy('tasks.due_key')
    .execute();
  return pickAll(
    ReportTopRisk,
    risks.map((risk) => {
      const { risk_id, ...next } = tasks.find((task) => task.risk_id === risk.id) ?? { risk_id: null };
      return { ...risk, next_task: risk_id === null ? null : next };
    }),
  );
}

async function readIssueChanges(source: Source, subject: Subject) {
  const { moment, since } = subject;
  const all = { ...inProjects(subject), status: ['all' as const] };
  const raised = issueList({ ...all, raised_since: daysLater(since, 1) }, moment);
  const resolved = issueList({ ...all, resolved_since: endOf(since, moment) }, moment, '-updated_at');
  return {
    raised_issues: await readFirst(source, raised, ReportIssue, maxRows.dates),
    resolved_issues: await readFirst(source, resolved, ReportIssue, maxRows.dates),
  };
}

const healthStates = ['off_track', 'at_risk', 'unknown', 'on_track'];

const byHealth = (a: Project, b: Project) =>
  healthStates.indexOf(a.health.state) - healthStates.indexOf(b.health.state) ||
  (b.counts.top_score ?? 0) - (a.counts.top_score ?? 0);

/** Reads the first risks of a register. */
type Ranked = (register: Register, limit: number) => Promise<object[]>;

/** The projects, worst first. The first of them have a page of their own. */
async function readProjects(source: Source, subject: Subject, ranked: Ranked) {
  const { moment, project } = subject;
  const all = await readRows<Project>(source, projectList({ archived: 'false' }, moment), maxProjects);
  const chosen = all.filter(({ id }) => !project || project.includes(id)).sort(byHealth);
  const items: object[] = [];
  for (const [i, one] of chosen.slice(0, maxRows.projects).entries()) {
    const page = i < maxRows.pages ? await readProjectPage(source, one.id, moment, ranked) : null;
    items.push({ ...one, page });
  }
  return { total: chosen.length, items: pickAll(ReportProject, items) };
}

/** More than a report may have. */
const maxProjects = 100_000;

async function readProjectPage(source: Source, id: string, moment: Moment, ranked: Ranked) {
  const filters = { project: [id], archived: 'false' as const };
  const register = {
    filters: { ...filters, status: ['active' as const], kind: ['threat' as const] },
    moment,
  };
  const overdue = issueList({ ...filters, status: [...openStatuses], overdue: true }, moment);
  return {
    top_risks: pickAll(ReportRisk, await ranked(register, maxRows.ofProject)),
    overdue_issues: await readFirst(source, overdue, ReportIssue, maxRows.ofProject),
  };
}
