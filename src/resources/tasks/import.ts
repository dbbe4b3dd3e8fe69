import type { Moment } from '../../core/clock.ts';
import { isDay } from '../../core/schemas.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { readDate } from '../../import/recognize/dates.ts';
import { importOf } from '../project-items/import.ts';
import { taskList, taskWrites } from './queries.ts';
import { type Task, TaskInput, TaskPatch } from './schema.ts';

/** Reads a percentage of progress, or the day on which a task was completed. Whether `1` is a hundredth or all is open. */
function statusOfProgress(cell: unknown): TaskInput['status'] {
  const text = String(cell).trim();
  const [, number, sign] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (number === undefined) return isDay(readDate(text, undefined, 'UTC')) ? 'done' : undefined;
  const percent = Number(number);
  if (sign === '' && percent === 1) return undefined;
  return percent >= 100 ? 'done' : percent > 0 ? 'in_progress' : 'todo';
}

export const taskImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Task, typeof TaskInput, typeof TaskPatch> => ({
  ...importOf(taskWrites, project, moment),
  input: TaskInput,
  patch: TaskPatch,
  existing: taskList({ project: [project.id], status: ['all'] }, moment),
  synonyms: {
    title:
      'task, task title, name, task name, summary, action, action item, subject, to do, primary column, aufgabe, titel, massnahme, vorgangsname, betreff, bezeichnung, tatigkeit, kurzbeschreibung',
    description:
      'task description, details, notes, comments, body, beschreibung, notizen, bemerkung, bemerkungen, kommentar',
    kind: 'type, task type',
    status:
      'state, task status, progress, percent complete, percent done, completed, done, zustand, stand, fortschritt, abgeschlossen, prozent abgeschlossen',
    assignee_name:
      'assigned to, assigned, assign, owner, responsible, who, resource names, action owner, assignees, verantwortlich, bearbeiter, zugewiesen an, zustandig, ressourcennamen, wer',
    start_on: 'start, start date, begins, planned start, anfang, beginn, startdatum, startet am',
    due_on:
      'due, due date, date due, due by, by when, end date, target date, deadline, finish, finish date, end, planned finish, ende, fallig, fallig am, termin, frist, falligkeit, falligkeitsdatum, abgabedatum, bis wann, enddatum',
    risk_id: 'risk key',
    issue_id: 'issue key',
    external_id:
      'task id, action id, action no, action number, task no, task number, reference, ref, number, no, ticket, wbs, nr, lfd nr, nummer, psp code',
  },
  values: {
    status: {
      todo: 'to do, open, new, not started, backlog, planned, scheduled, proposed, in specification, false, no, future task, reopened, selected for development, offen, neu, nicht begonnen, geplant, nein',
      in_progress:
        'active, doing, working on it, started, ongoing, wip, work in progress, in review, in testing, in development, developed, on schedule, late, feedback, committed, code review, in bearbeitung, in arbeit, begonnen',
      blocked:
        'on hold, waiting, pending, stalled, impeded, deferred, stuck, waiting on someone else, blockiert, wartet, zuruckgestellt',
      done: 'complete, completed, closed, resolved, finished, true, yes, x, fixed, tested, erledigt, abgeschlossen, fertig, ja',
      cancelled:
        'canceled, rejected, removed, wont do, dropped, declined, obsolete, abgebrochen, entfallen, abgelehnt, abgewiesen',
    },
    kind: {
      work: 'task, story, feature, user story, epic, sub task, subtask, bug, improvement, new feature, milestone, support, action, product backlog item',
    },
  },
  interpret: { status: statusOfProgress },
});
