import type { Moment } from '../../core/clock.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { importOf } from '../project-items/import.ts';
import { issueList, issueWrites } from './queries.ts';
import { type Issue, IssueInput, IssuePatch } from './schema.ts';

export const issueImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Issue, typeof IssueInput, typeof IssuePatch> => ({
  ...importOf(issueWrites, project, moment),
  input: IssueInput,
  patch: IssuePatch,
  existing: issueList({ project: [project.id], status: ['all'] }, moment),
  intermediateStatus: { closed: 'resolved' },
  synonyms: {
    title:
      'issue, issue title, name, summary, subject, problem, short description, headline, primary column, titel, thema, problem, betreff, offener punkt, bezeichnung, zusammenfassung, kurzbeschreibung',
    description:
      'issue description, details, body, notes, comments, beschreibung, bemerkung, bemerkungen, kommentar, erlauterung',
    severity: 'impact, level, issue severity, schweregrad, schwere, auswirkung',
    priority: 'urgency, issue priority, prioritat, prio, dringlichkeit',
    status: 'state, issue status, current status, zustand, stand',
    resolution: 'resolution type, outcome, losung, ergebnis',
    resolution_note:
      'resolution notes, resolution note, resolution details, resolution description, close notes, how resolved, action taken, losungshinweise, losungsbeschreibung, abschlussnotizen',
    owner_name:
      'issue owner, responsible, responsible person, action owner, verantwortlich, verantwortlicher, verantwortliche, eigner',
    assignee_name:
      'assigned to, assigned, assign, assignees, owned by, bearbeiter, zugewiesen an, zugewiesen, zustandig',
    raised_by_user_id:
      'raised by, reported by, created by, reporter, author, gemeldet von, erfasst von, ersteller, melder, autor, anrufer',
    raised_on:
      'raised, date raised, reported on, created, opened, date, logged, date reported, open date, created on, created at, created date, creation date, date created, date opened, opened on, opened at, date logged, logged on, date registered, registered on, date submitted, submitted on, date entered, sys created on, gemeldet am, erfasst am, erstellt, erstellt am, datum, eingang, angelegt, angelegt am, geoffnet, geoffnet am, eroffnet, eroffnet am',
    due_on:
      'due, due date, date due, target date, deadline, target resolution date, target closure, target closure date, resolve by, fallig, fallig am, termin, frist, zieltermin, falligkeit, falligkeitsdatum, abgabedatum, zu erledigen bis',
    blocked_reason: 'blocked by, blocker',
    risk_id: 'risk key, from risk',
    external_id:
      'issue id, issue no, issue number, reference, ref, number, no, ticket, issue key, nr, lfd nr, nummer, laufende nummer, kennung, vorgang',
    source_url: 'url, link, source, verweis',
  },
  values: {
    status: {
      open: 'new, to do, todo, opened, reopened, backlog, unassigned, triage, raised, proposed, scheduled, selected for development, confirmed, in specification, not started, draft, offen, neu',
      in_progress:
        'active, doing, working on it, started, ongoing, work in progress, wip, in review, in testing, in development, developed, feedback, assigned, investigating, under investigation, escalated, committed, code review, testing, ready for test, in bearbeitung, in arbeit, begonnen, zugewiesen',
      blocked:
        'on hold, waiting, pending, stalled, impeded, deferred, awaiting info, awaiting problem, waiting for customer, parked, blockiert, wartet, zuruckgestellt, wartend',
      resolved: 'fixed, done, complete, completed, solved, tested, gelost, erledigt, behoben',
      closed:
        'close, cancelled, canceled, rejected, removed, wont do, declined, merged, test failed, geschlossen, abgeschlossen, abgelehnt, abgewiesen',
    },
    severity: {
      critical:
        'very high, vh, blocker, showstopper, catastrophic, severe, extreme, 1, s1, sev 1, sev1, kritisch, sehr hoch, blockierend',
      high: 'h, major, significant, 2, s2, sev 2, sev2, hoch, schwer',
      medium: 'm, med, moderate, normal, average, 3, s3, sev 3, sev3, mittel',
      low: 'l, minor, trivial, very low, vl, cosmetic, negligible, 4, 5, s4, sev 4, sev4, niedrig, gering, leicht',
    },
    priority: {
      urgent:
        'highest, immediate, critical, blocker, very high, p0, p1, 1, emergency, asap, showstopper, dringend, sehr hoch, sofort, kritisch',
      high: 'h, major, p2, 2, important, hoch',
      normal: 'medium, m, med, moderate, p3, 3, planning, default, standard, no priority, mittel, planung',
      low: 'l, minor, lowest, trivial, p4, p5, 4, 5, very low, low priority, niedrig, gering',
    },
    resolution: {
      fixed: 'done, complete, completed, resolved, implemented, solved, closed',
      workaround: 'work around, worked around, mitigated',
      wont_fix: 'wont do, wont fix, wontfix, declined, rejected, deferred, known error, not planned',
      duplicate: 'duplicated',
      not_an_issue:
        'invalid, cannot reproduce, not a bug, works as designed, incomplete, not an error, by design',
      null: 'unresolved, none, n/a',
    },
  },
  // The highest impact is 1 in ITIL, and 5 in a register of risks.
  unclearNumbers: { severity: ['impact', 'auswirkung'] },
  freeText: { resolution: 'resolution_note' },
  implied: new Map(
    ['rejected', 'cancelled', 'canceled', 'wont do', 'declined', 'removed', 'abgelehnt', 'abgewiesen'].map(
      (status) => [status, { resolution: 'wont_fix' }],
    ),
  ),
  complete: (patch) =>
    patch.status === 'resolved' || patch.status === 'closed'
      ? { ...patch, resolution: patch.resolution ?? 'fixed' }
      : patch,
});
