import { sql, type Transaction } from 'kysely';
import { fieldError, Problem } from '../core/errors.ts';
import { fold, shortened } from '../core/text.ts';
import { hasSingleWriter } from '../database/sql/batches.ts';
import { inJsonArray } from '../database/sql/functions.ts';
import { createPacer } from '../formats/pace.ts';
import type { TableName, Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import { lockProjectRows, lockTables } from '../store/writes/locks.ts';
import { type Importable, type ItemProject, isProject, keyValue } from './importable.ts';
import { createRowParser, type ParsedRow } from './parse-rows.ts';
import { createdPeople, createsProjects, type Recognition } from './recognize/parameters.ts';
import { findMoved, isIdOf } from './references/moved.ts';
import type { PeoplePolicy } from './references/people.ts';
import type { FileScan, Source } from './scan.ts';

/** Rows that are imported in the same way: into one project, or without any. */
export type RowGroup = { importable: Importable; rows: readonly ParsedRow[] };

/** Groups rows by the project they name. A row whose project is not found gets an error. */
export async function groupByProject(
  db: Transaction<Tables>,
  importable: Importable,
  rows: readonly ParsedRow[],
  change: Change,
): Promise<RowGroup[]> {
  const { across } = importable;
  if (!across) {
    const { project } = importable;
    return [{ importable, rows: project ? await rejectOtherProjects(db, project, rows) : rows }];
  }
  const groups = new Map<string, { importable: Importable; rows: ParsedRow[] }>();
  const failed: ParsedRow[] = [];
  const names = [...new Set(rows.flatMap(({ projects = [] }) => projects))];
  const moved = await findMoved(db, names.filter(isProjectId));
  const found = await findProjects(db, [...names, ...moved.values()]);
  for (const row of rows) {
    const project = await resolveProject(db, across, found, moved, row, change);
    if (project === undefined) failed.push(row);
    else if (typeof project === 'string') {
      const error = fieldError('project', 'unknown_reference', project);
      failed.push(row.isUnreadable ? row : { ...row, errors: [...row.errors, error] });
    } else {
      const group = groups.get(project.id) ?? { importable: across.forProject(project), rows: [] };
      groups.set(project.id, group);
      group.rows.push(row);
    }
  }
  return [...groups.values(), ...(failed.length > 0 ? [{ importable, rows: failed }] : [])];
}

const isProjectId = isIdOf('project');

/**
 * Adds an error to rows that belong to another project than the one they are imported into. The id of a project of another
 * service is ignored if the project was imported from it, or if the row also has the right key or name.
 */
async function rejectOtherProjects(
  db: Transaction<Tables>,
  project: ItemProject,
  rows: readonly ParsedRow[],
): Promise<readonly ParsedRow[]> {
  const others = rows.flatMap(({ otherProjects = [] }) => otherProjects.map(({ text }) => text));
  if (others.length === 0) return rows;
  const ids = others.filter(isProjectId);
  const known = new Set((await findProjects(db, ids)).map(({ id }) => id));
  const moved = await findMoved(db, ids);
  return rows.map((row) => {
    const isHere = (text: string) =>
      isProjectId(text) &&
      !known.has(text) &&
      (moved.get(text) ?? (row.projects && project.id)) === project.id;
    const errors = (row.otherProjects ?? [])
      .filter(({ text }) => !isHere(text))
      .map(({ field, text }) => {
        const detail = `This row belongs to the project ${shortened(text)}, not to ${project.key}. Import it into that project.`;
        return fieldError(field, 'other_project', detail);
      });
    return errors.length === 0 ? row : { ...row, errors: [...row.errors, ...errors] };
  });
}

type FoundProject = ItemProject & { name_folded: string };

/** Finds projects by id, key, external id or name. */
async function findProjects(db: Transaction<Tables>, texts: readonly string[]): Promise<FoundProject[]> {
  if (texts.length === 0) return [];
  const { rows } = await sql<FoundProject>`
    select id, key, name, external_id, name_folded from projects
    where ${inJsonArray(sql.ref('id'), [...texts])} or ${inJsonArray(sql.ref('external_id'), [...texts])}
      or ${inJsonArray(
        sql.ref('key'),
        texts.map((text) => text.toUpperCase()),
      )}
      or ${inJsonArray(sql.ref('name_folded'), texts.map(fold))}`.execute(db);
  return rows;
}

/** The project of a row, or why there is none; undefined for a row that is left out, or fails before one is created for it. */
async function resolveProject(
  db: Transaction<Tables>,
  { createProject, createsMissing }: NonNullable<Importable['across']>,
  found: FoundProject[],
  moved: ReadonlyMap<string, string>,
  { projects = [], errors, createsProject, leftOut }: ParsedRow,
  change: Change,
): Promise<ItemProject | string | undefined> {
  if (leftOut !== undefined) return undefined;
  const isKnown = (id: string) => found.some((project) => project.id === id);
  const current = projects.map((text) => (isKnown(text) ? text : (moved.get(text) ?? text)));
  // The id of another service says nothing beside a key or a name.
  const named = nonEmpty(current.filter((text) => !isProjectId(text) || isKnown(text))) ?? current;
  const [text, ...otherTexts] = named;
  if (text === undefined) return 'This row names no project. Write its key, name or external ID.';
  const [project, ...others] =
    nonEmpty(found.filter(({ id, key }) => id === text || key === text.toUpperCase())) ??
    nonEmpty(found.filter(({ external_id }) => external_id === text)) ??
    found.filter(({ name_folded }) => name_folded === fold(text));
  if (others.length > 0) return `Several projects are named “${shortened(text)}”. Use the key.`;
  const other = project && otherTexts.find((text) => !isProject(project, text));
  if (other)
    return `“${shortened(text)}” and “${shortened(other)}” are different projects. Correct one of them.`;
  if (project) return project;
  if (!createsMissing && !createsProject)
    return `No project matches “${shortened(text)}”. Use its key, name or external ID, or send \`create_projects=true\`.`;
  if (errors.length > 0) return undefined;
  const otherName = otherTexts.find((other) => fold(other) !== fold(text));
  if (otherName)
    return `“${shortened(text)}” and “${shortened(otherName)}” name a project that does not exist. Create it, or leave out a column.`;
  const created = await createProject(db, text, change);
  if (created instanceof Problem) return created.errors?.[0]?.detail ?? created.message;
  found.push({ ...created, name_folded: fold(created.name) });
  return created;
}

const nonEmpty = <T>(list: T[]) => (list.length > 0 ? list : undefined);

/** The tables in which an import changes several rows. The items of a project are protected by the lock on the project. */
const lockedTables: Partial<Record<Importable['what'], TableName[]>> = {
  person: ['access', 'memberships', 'people'],
  // The members of a group are people, and get a new version.
  group: ['groups', 'memberships', 'people'],
  project: ['projects'],
};

/** Whether the rows of a file may change several projects. */
export const changesSeveralProjects = ({ what, across }: Importable) =>
  what === 'project' || across !== undefined;

/**
 * Takes all locks for writing these rows before the first of them is written: the order of the rows must not decide in
 * which order their locks are taken.
 */
export async function lockForRows(
  db: Transaction<Tables>,
  job: LockedJob,
  rows: readonly ParsedRow[],
): Promise<void> {
  if (hasSingleWriter(db)) return;
  await lock(
    db,
    job,
    rows.flatMap((row) => projectNames(job.importable, row)),
  );
}

type LockedJob = {
  importable: Importable;
  unknownPeople?: PeoplePolicy | undefined;
  recognition: Recognition;
};

/** Like `lockForRows`, for all rows of the file. */
export async function lockForFile(
  db: Transaction<Tables>,
  job: LockedJob & { source: Source; assertWanted?(): void },
  { columns }: FileScan,
): Promise<void> {
  if (hasSingleWriter(db)) return;
  const { importable, source } = job;
  const names = new Set<string>();
  if (changesSeveralProjects(importable)) {
    const parse = createRowParser(importable, columns, source.isTable);
    const pause = createPacer();
    for await (const rows of source.rows(job.assertWanted)) {
      for (const row of rows) {
        if (!row.isHeader && row.skipped === undefined)
          for (const name of projectNames(importable, parse(row, 0))) names.add(name);
        await pause();
      }
    }
  }
  await lock(db, job, [...names]);
}

async function lock(
  db: Transaction<Tables>,
  { importable: { what, project, across }, unknownPeople, recognition }: LockedJob,
  names: readonly string[],
): Promise<void> {
  const tables = new Set<TableName>(lockedTables[what]);
  if (across?.createsMissing || createsProjects(recognition)) tables.add('projects');
  // Two imports at a time must not create a placeholder each for one name.
  if (unknownPeople === 'create' || createdPeople(recognition).size > 0) tables.add('people');
  await lockTables(db, ...tables);
  const moved = await findMoved(db, names.filter(isProjectId));
  const found = await findProjects(db, [...new Set([...names, ...moved.values()])]);
  const ids = found.map(({ id }) => id);
  await lockProjectRows(db, project ? [project.id] : ids);
}

/** The texts by which a row names the project that it changes. */
const projectNames = ({ what, keys }: Importable, row: ParsedRow): string[] =>
  what === 'project' ? keys.flatMap((key) => keyValue(row, key) ?? []) : (row.projects ?? []);
