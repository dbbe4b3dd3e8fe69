import { type Kysely, sql } from 'kysely';
import { daily, type Moment } from '../../core/clock.ts';
import { notFound } from '../../core/errors.ts';
import { normalizeKey } from '../../core/ids.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import type { Subject } from '../../store/writes/events.ts';

/** Reads one item of a project, or of any project. The project and the item are given by id or by key. */
export type ReadItem<Item> = (
  db: Kysely<Tables>,
  project: string | undefined,
  ref: string,
  moment: Moment,
) => Promise<Item>;

export function itemReader<Item extends object>({ type, from, id, key, json }: Subject): ReadItem<Item> {
  const find = (db: Kysely<Tables>, moment: Moment) =>
    from(db)
      .select(json(moment).as('json'))
      .where(sql<boolean>`(${id} = ${param('id')} or ${key} = ${param('key')})`)
      .$castTo<{ json: string }>();
  const findAnywhere = daily((moment) => statement((db) => find(db, moment)));
  const findInProject = daily((moment) =>
    statement((db) =>
      find(db, moment).where(
        sql<boolean>`(projects.id = ${param('project_id')} or projects.key = ${param('project_key')})`,
      ),
    ),
  );
  return async (db, project, ref, moment) => {
    const item = { id: ref, key: normalizeKey(ref) };
    const { rows } =
      project === undefined
        ? await findAnywhere(moment)(db, item)
        : await findInProject(moment)(db, {
            ...item,
            project_id: project,
            project_key: normalizeKey(project),
          });
    const [row] = rows;
    if (!row) throw notFound(type, project === undefined ? ref : `${ref} in the project ${project}`);
    return JSON.parse(row.json);
  };
}
