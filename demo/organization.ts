import type { Moment } from '../src/core/clock.ts';
import { issueDelta, riskDelta } from '../src/resources/projects/counts.ts';
import { createDataset, type Row, splitProportionally } from './dataset.ts';
import { createGroups, createMemberships } from './groups.ts';
import { type CreatedIssue, createIssues } from './issues.ts';
import { createPeople } from './people.ts';
import { createProjectContext } from './projects.ts';
import { getScore } from './risk-versions.ts';
import { type CreatedRisk, createRisks } from './risks.ts';
import { createTasks } from './tasks.ts';
import * as words from './words.ts';

type TableNames =
  | 'people'
  | 'groups'
  | 'memberships'
  | 'projects'
  | 'risks'
  | 'past_risks'
  | 'issues'
  | 'tasks'
  | 'history';

/** The rows of each table. Referenced tables come before the tables that reference them. */
export type Organization = { [Table in TableNames]: Row<Table>[] };

const totals = { risks: 700, issues: 1000, tasks: 2000 };

/** Generates a fictional railway with 250 people. The same moment always produces identical rows. */
export function createOrganization(moment: Moment): Organization {
  const dataset = createDataset(moment);
  const personnel = createPeople(dataset);
  const groups = createGroups(dataset, personnel);
  const memberships = createMemberships(dataset, personnel, groups);

  const sizes = words.projects.map(({ size }) => size);
  const riskCounts = splitProportionally(totals.risks, sizes);
  const issueCounts = splitProportionally(totals.issues, sizes);
  const taskCounts = splitProportionally(totals.tasks, sizes);
  const projects = words.projects.map((profile, i) => {
    const context = createProjectContext(dataset, profile, personnel, groups);
    const risks = createRisks(dataset, context, riskCounts[i] ?? 0);
    const issues = createIssues(dataset, context, risks, issueCounts[i] ?? 0);
    const tasks = createTasks(dataset, context, risks, issues, taskCounts[i] ?? 0);
    const project = {
      ...context.project,
      ...countOpenItems(risks, issues),
      risks_created: risks.length,
      issues_created: issues.length,
      tasks_created: tasks.length,
    };
    const history = [context, ...risks, ...issues, ...tasks].flatMap(({ history }) => history);
    return { project, risks, issues, tasks, history };
  });

  const idsByName = new Map(personnel.map(({ row }) => [row.name, row.user_id]));
  return {
    people: personnel.map(({ row }) => row),
    groups,
    memberships,
    projects: projects.map(({ project }) => project),
    risks: projects.flatMap(({ risks }) => risks.map(({ row }) => row)),
    past_risks: projects.flatMap(({ risks }) => risks.flatMap(({ past }) => past)),
    issues: projects.flatMap(({ issues }) => issues.map(({ row }) => row)),
    tasks: projects.flatMap(({ tasks }) => tasks.map(({ row }) => row)),
    history: projects
      .flatMap(({ history }) => history)
      .map((entry) => ({ ...entry, actor_user_id: idsByName.get(entry.key_name) ?? null })),
  };
}

/** Computes the counters that are stored on the project row. */
function countOpenItems(risks: CreatedRisk[], issues: CreatedIssue[]) {
  const riskDeltas = risks.map(({ row }) => riskDelta({ status: row.status, score: getScore(row) }));
  const issueDeltas = issues.map(({ row }) => issueDelta(row));
  const sum = (count: keyof ReturnType<typeof riskDelta>) =>
    [...riskDeltas, ...issueDeltas].reduce((total, delta) => total + delta[count], 0);
  return {
    open_issues: sum('open_issues'),
    critical_issues: sum('critical_issues'),
    active_risks: sum('active_risks'),
    unassessed_risks: sum('unassessed_risks'),
  };
}
