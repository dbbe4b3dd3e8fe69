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
    key: 'project key, code, short name',
    name: 'project, project name, title',
    description: 'summary, notes, goal',
    status: 'state, project status, phase',
    lead_user_id: 'project lead, project manager, owner, responsible',
    start_on: 'start date, start, begins',
    due_on: 'due date, due, end date, end, deadline, target date, finish',
    appetite: 'risk appetite, risk threshold',
    external_id: 'project id, reference',
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
