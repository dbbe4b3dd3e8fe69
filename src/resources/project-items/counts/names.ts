import type { Kysely } from 'kysely';
import type { Tables } from '../../../store/tables.ts';
import { ownerOf } from './groups.ts';
import type { Group } from './tally.ts';

/** The names of the projects that a summary shows. */
export async function readProjectNames(db: Kysely<Tables>, shown: readonly Group[]) {
  const rows = await namesOf(shown, (ids) =>
    db
      .selectFrom('projects')
      .select(['id as project_id', 'key as project_key', 'name as project_name'])
      .where('id', 'in', ids)
      .execute(),
  );
  const projects = new Map(rows.map((row) => [row.project_id, row]));
  return (id: string | null) =>
    projects.get(id ?? '') ?? { project_id: id ?? '', project_key: '', project_name: '' };
}

/** The names of the people that a summary shows. */
export async function readPersonNames(db: Kysely<Tables>, shown: readonly Group[]) {
  const rows = await namesOf(shown, (ids) =>
    db.selectFrom('people').select(['user_id', 'name']).where('user_id', 'in', ids).execute(),
  );
  const names = new Map(rows.map(({ user_id, name }) => [user_id, name]));
  return (id: string | null) => names.get(id ?? '') ?? null;
}

/** The names of the people and groups that a summary shows as owners. */
export async function readOwnerNames(db: Kysely<Tables>, shown: readonly Group[]) {
  const owners = shown.map(({ id, count }) => ({ ...ownerOf(id), count }));
  const people = await readPersonNames(
    db,
    owners.map(({ owner_user_id, count }) => ({ id: owner_user_id, count })),
  );
  const rows = await namesOf(
    owners.map(({ owner_group_id, count }) => ({ id: owner_group_id, count })),
    (ids) => db.selectFrom('groups').select(['id', 'name']).where('id', 'in', ids).execute(),
  );
  const groups = new Map(rows.map(({ id, name }) => [id, name]));
  return (key: string | null) => {
    const { owner_user_id, owner_group_id } = ownerOf(key);
    return people(owner_user_id) ?? groups.get(owner_group_id ?? '') ?? null;
  };
}

async function namesOf<Row>(
  shown: readonly Group[],
  read: (ids: string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const ids = shown.flatMap(({ id }) => id ?? []);
  return ids.length === 0 ? [] : read(ids);
}
