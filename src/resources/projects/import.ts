import type { Moment } from '../../core/clock.ts';
import { fieldError } from '../../core/errors.ts';
import { type Importable, keysOf } from '../../import/importable.ts';
import { inAllLanguages } from '../../import/languages/all.ts';
import { archiveProject, createProjects, projectList, updateProject } from './queries.ts';
import { type Project, ProjectRowInput, ProjectRowPatch } from './schema.ts';

const notArchivedYet = fieldError(
  'archived_at',
  'not_archived',
  'The project is not archived yet, so that its risks, issues and tasks can be imported. Then import this file again with ' +
    '`mode=upsert`, which archives it.',
);

const recognized = inAllLanguages('project');

export const projectImport = (
  moment: Moment,
): Importable<Project, typeof ProjectRowInput, typeof ProjectRowPatch> => ({
  what: 'project',
  input: ProjectRowInput,
  patch: ProjectRowPatch,
  existing: projectList({}, moment),
  keys: keysOf('projects'),
  ...recognized,
  // An import never unarchives a project.
  additive: ['archived_at'],
  // Nothing can be imported into an archived project, so a new one is archived by a second import of the file.
  warnings: async (_, rows) => rows.map(({ archived_at }) => (archived_at ? [notArchivedYet] : [])),
  create: (db, rows, change) =>
    createProjects(
      db,
      rows.map(({ archived_at: _, ...input }) => input),
      change,
    ),
  async update(db, current, { archived_at, ...patch }, change) {
    const updated = await updateProject(db, current, patch, change);
    const since = archived_at && new Date(archived_at).toISOString();
    if (since) await archiveProject(db, updated, true, { ...change, reason: patch.reason }, since);
  },
});
