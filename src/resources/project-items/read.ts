import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daily, type Moment } from '../../core/clock.ts';
import { notFound } from '../../core/errors.ts';
import { asKey } from '../../core/ids.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../database/tables.ts';
import { parseResource } from '../../database/writes/events.ts';
import type { RowsQuery } from '../../lists/list.ts';

/** Returns a function that reads one item of a project. The project and the item are given by id or by key. */
export function itemReader<Item extends object>(
  noun: 'risk' | 'issue' | 'task',
  rows: (db: Kysely<Tables>) => RowsQuery,
  json: (moment: Moment) => RawBuilder<string>,
) {
  const isItem = (column: 'id' | 'key') => sql`${sql.ref(`${noun}s.${column}`)} = ${param(column)}`;
  const find = daily((moment) =>
    statement<{ json: string }>((db) =>
      rows(db)
        .select(json(moment).as('json'))
        .where(sql<boolean>`(projects.id = ${param('project_id')} or projects.key = ${param('project_key')})`)
        .where(sql<boolean>`(${isItem('id')} or ${isItem('key')})`),
    ),
  );
  return async (db: Kysely<Tables>, project: string, ref: string, moment: Moment): Promise<Item> => {
    const values = { project_id: project, project_key: asKey(project), id: ref, key: asKey(ref) };
    const [row] = (await find(moment)(db, values)).rows;
    if (!row) throw notFound(noun, `${ref} in the project ${project}`);
    return parseResource(db, row.json);
  };
}
