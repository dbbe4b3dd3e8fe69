import type { Moment } from '../../core/clock.ts';
import { type Importable, keysOf } from '../../import/importable.ts';
import { createProjects, projectList, updateProject } from './queries.ts';
import { type Project, ProjectInput, ProjectPatch } from './schema.ts';

export const projectImport = (
  moment: Moment,
): Importable<Project, typeof ProjectInput, typeof ProjectPatch> => ({
  what: 'project',
  input: ProjectInput,
  patch: ProjectPatch,
  existing: projectList({}, moment),
  keys: keysOf('projects'),
  synonyms: {
    key: 'project key, code, short name, kurzel, projektkurzel',
    name: 'project, project name, title, projekt, projektname, titel',
    description: 'summary, notes, goal, beschreibung, ziel',
    status: 'state, project status, phase, zustand, stand',
    lead_user_id:
      'project lead, project manager, owner, responsible, projektleiter, projektleitung, verantwortlich',
    start_on: 'start date, start, begins, beginn, anfang, startdatum',
    due_on: 'due date, due, end date, end, deadline, target date, finish, ende, termin, enddatum',
    appetite: 'risk appetite, risk threshold',
    external_id: 'project id, reference, projektnummer, projekt nr, nr',
  },
  values: {
    status: {
      planned: 'planning, not started, proposed, new, pipeline, initiation, draft',
      active: 'in progress, ongoing, open, started, running, on track, at risk, off track, green, amber, red',
      on_hold: 'paused, suspended, waiting, deferred',
      completed: 'complete, done, closed, finished, delivered',
      cancelled: 'canceled, stopped, terminated, rejected',
    },
  },
  create: createProjects,
  update: updateProject,
});
