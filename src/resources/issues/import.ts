import type { Moment } from '../../core/clock.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { inAllLanguages, wordsOfAll } from '../../import/languages/all.ts';
import { normalizeWord } from '../../import/recognize/names.ts';
import { importOf } from '../project-items/import.ts';
import { issueList, issueWrites } from './queries.ts';
import { type Issue, IssueInput, IssuePatch } from './schema.ts';

/** The statuses of issues that were closed without being fixed, and what else they say. */
const rejected = [
  'rejected',
  'removed',
  'wont do',
  'declined',
  'wont fix',
  ...wordsOfAll((language) => language.rejected),
];

const unfounded = {
  duplicate: 'duplicate',
  duplicated: 'duplicate',
  'cannot reproduce': 'not_an_issue',
  'cant reproduce': 'not_an_issue',
};

const recognized = inAllLanguages('issue', {
  synonyms: {
    title: 'issue, issue title, name, summary, subject, problem, short description, headline, primary column',
    description: 'issue description, details, body, notes, comments',
    severity: 'impact, level, issue severity',
    priority: 'urgency, issue priority',
    status: 'state, issue status, current status',
    resolution: 'resolution type, resolution code, close code, outcome',
    resolution_note:
      'resolution notes, resolution note, resolution details, resolution description, close notes, how resolved, action taken',
    owner_name: 'issue owner, responsible, responsible person, action owner',
    assignee_name: 'assigned to, assigned, assign, assignees, owned by',
    raised_by_user_id: 'raised by, reported by, created by, reporter, author, caller, caller id',
    raised_on:
      'raised, date raised, reported on, created, opened, date, logged, date reported, open date, created on, created date, creation date, date created, date opened, opened on, opened at, date logged, logged on, date registered, registered on, date submitted, submitted on, date entered, sys created on',
    due_on:
      'due, due date, date due, target date, deadline, target resolution date, target closure, target closure date, resolve by',
    blocked_reason: 'blocked by, blocker',
    risk_id: 'risk key, from risk',
    external_id: 'issue id, issue no, issue number, reference, ref, number, no, ticket, issue key',
    source_url: 'url, link, source',
  },
  values: {
    status: {
      open: 'new, to do, todo, opened, reopened, backlog, unassigned, triage, raised, proposed, scheduled, selected for development, confirmed, in specification, not started, draft',
      in_progress:
        'active, doing, working on it, started, ongoing, work in progress, wip, in review, in testing, in development, developed, feedback, assigned, investigating, under investigation, escalated, committed, code review, testing, ready for test',
      blocked:
        'on hold, waiting, pending, stalled, impeded, deferred, awaiting info, awaiting problem, waiting for customer, parked',
      resolved: 'fixed, done, complete, completed, solved, tested',
      closed: [
        'close, cancelled, canceled, merged, test failed',
        ...rejected,
        ...Object.keys(unfounded),
      ].join(', '),
    },
    severity: {
      critical: 'very high, vh, blocker, showstopper, catastrophic, severe, extreme, 1, s1, sev 1, sev1',
      high: 'h, major, significant, 2, s2, sev 2, sev2',
      medium: 'm, med, moderate, normal, average, 3, s3, sev 3, sev3',
      low: 'l, minor, trivial, very low, vl, cosmetic, negligible, 4, 5, s4, sev 4, sev4',
    },
    priority: {
      urgent: 'highest, immediate, critical, blocker, very high, p0, p1, 1, emergency, asap, showstopper',
      high: 'h, major, p2, 2, important',
      normal: 'medium, m, med, moderate, p3, 3, default, standard, no priority',
      low: 'l, minor, lowest, trivial, p4, p5, 4, 5, very low, low priority, planning',
    },
    resolution: {
      fixed:
        'done, complete, completed, resolved, implemented, solved, closed, fixed and verified, verified, code complete, work finished, acceptance tests pass, solved (permanently), solved remotely (permanently)',
      workaround:
        'work around, worked around, mitigated, solved (work around), solved remotely (work around)',
      wont_fix:
        'wont do, wont fix, wontfix, declined, rejected, deferred, obsolete, known error, not planned, removed from the backlog, cut, abandoned, not solved (too costly)',
      duplicate: 'duplicated',
      not_an_issue:
        'invalid, cannot reproduce, not a bug, works as designed, as designed, incomplete, not an error, by design, not solved (not reproducible)',
      null: 'unresolved, none, n/a, new, approved, build failure, investigate, investigation complete, test failed, not fixed, regression, reactivated, resolved in error, implementation started, acceptance tests fail, commitment made by the team, work started, work stopped, additional work found, reconsidering',
    },
  },
});

const isDone = ({ status }: { status?: unknown }) => status === 'resolved' || status === 'closed';

export const issueImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Issue, typeof IssueInput, typeof IssuePatch> => ({
  ...importOf(issueWrites, project, moment),
  input: IssueInput,
  patch: IssuePatch,
  existing: issueList({ project: [project.id], status: ['all'] }, moment),
  intermediateStatus: { closed: 'resolved' },
  ...recognized,
  // The highest impact is 1 in ITIL, and 5 in a register of risks.
  unclearNumbers: { severity: ['impact', 'auswirkung'] },
  freeText: { resolution: 'resolution_note' },
  implied: {
    status: new Map([
      ...['cancelled', 'canceled', ...rejected].map(
        (status) => [normalizeWord(status), { resolution: 'wont_fix' }] as const,
      ),
      ...Object.entries(unfounded).map(([status, resolution]) => [status, { resolution }] as const),
    ]),
  },
  // An issue that is done needs a resolution. Of a file that states none, the usual one is taken, and told.
  complete: (patch) => (isDone(patch) ? { ...patch, resolution: patch.resolution ?? 'fixed' } : patch),
  assumed: {
    severity: () => 'medium',
    resolution: (row) => (isDone(row) ? 'fixed' : undefined),
  },
});
