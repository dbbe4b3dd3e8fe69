import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Importable } from '../../transfer/importable.ts';
import { createIssues, issueList, updateIssue } from './queries.ts';
import { type Issue, IssueInput, IssuePatch } from './schema.ts';

export const issueImport = (
  project: { id: string; key: string },
  moment: Moment,
): Importable<Issue, typeof IssueInput, typeof IssuePatch> => ({
  what: 'issue',
  input: IssueInput,
  patch: IssuePatch,
  existing: issueList({ project: [project.id], status: ['all'] }, moment),
  keys: [
    { field: 'id', column: sql.ref('issues.id') },
    { field: 'external_id', column: sql.ref('issues.external_id') },
    { field: 'key', column: sql.ref('issues.key') },
  ],
  project,
  intermediateStatus: { closed: 'resolved' },
  synonyms: {
    title: ['issue', 'issue title', 'name', 'summary', 'subject', 'problem'],
    description: ['details', 'issue description', 'notes'],
    severity: ['impact', 'level'],
    status: ['state', 'issue status'],
    owner_name: ['issue owner', 'responsible'],
    assignee_name: ['assigned to', 'assigned'],
    raised_by_user_id: ['raised by', 'reported by', 'reporter', 'author'],
    raised_on: ['raised', 'date raised', 'reported on', 'created', 'opened'],
    due_on: ['due', 'due date', 'target date', 'deadline'],
    blocked_reason: ['blocked by', 'blocker'],
    risk_id: ['risk key', 'from risk'],
    external_id: ['issue id', 'reference', 'ref', 'number', 'no', 'ticket'],
    source_url: ['url', 'link', 'source'],
  },
  create: (db, inputs, change) => createIssues(db, project.id, inputs, change),
  update: updateIssue,
});
