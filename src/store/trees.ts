import { type Kysely, sql } from 'kysely';
import { type FieldError, fieldError } from '../core/errors.ts';
import type { Tables } from './tables.ts';
import type { Target } from './writes/references.ts';

/** `above` is the id of the parent. */
type TreeNode = { id: string; label: string; above: string | null };

/** Walking a longer path would block the event loop. */
const maxDepth = 10_000;

/** The path from a row to the root of its tree: the row, its parent (in `field`), the parent of that, up to `maxDepth`. */
export async function ancestors(
  db: Kysely<Tables>,
  { table, id, label = 'name' }: Target,
  field: string,
  start: string,
): Promise<TreeNode[]> {
  // `union` drops duplicates, so the recursion ends even if there is a cycle.
  const { rows } = await sql<TreeNode>`
    select ${sql.ref(id)} as id, ${sql.ref(label)} as label, ${sql.ref(field)} as above
    from ${sql.table(table)} where ${sql.ref(id)} in (
      with recursive path(node) as (
        select ${sql.ref(id)} from ${sql.table(table)} where ${sql.ref(id)} = ${start}
        union
        select ${sql.ref(field)} from ${sql.table(table)} join path on ${sql.ref(id)} = path.node
        where ${sql.ref(field)} is not null
      )
      select node from path limit ${sql.lit(maxDepth)})`.execute(db);
  const nodes = new Map(rows.map((row) => [row.id, row]));
  const path: TreeNode[] = [];
  for (let next = nodes.get(start); next; next = nodes.get(next.above ?? '')) {
    path.push(next);
    nodes.delete(next.id);
  }
  return path;
}

/** Returns an error that shows the cycle if `parent_id` as the value of `field` would create one. Lock the table first. */
export async function cycleErrors(
  db: Kysely<Tables>,
  target: Target,
  field: string,
  self: { id: string; label: string },
  parent_id: string | null | undefined,
): Promise<FieldError[]> {
  if (parent_id == null) return [];
  // A row without children cannot be its own ancestor, so its path need not be read.
  if (parent_id !== self.id && !(await hasChildren(db, target, field, self.id))) return [];
  const path = await ancestors(db, target, field, parent_id);
  const end = path.findIndex(({ id }) => id === self.id);
  if (end === -1 && path.length < maxDepth) return [];
  if (end === -1) {
    const detail = `There are more than ${maxDepth} levels above this one, too many to check for a cycle.`;
    return [fieldError(field, 'too_deep', detail)];
  }
  const names = [self, ...path.slice(0, end), self].map(({ id, label }) => `${label} (${id})`);
  return [fieldError(field, 'cycle', `This would create a cycle: ${shorten(names).join(' → ')}.`)];
}

async function hasChildren(
  db: Kysely<Tables>,
  { table }: Target,
  field: string,
  id: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table)} where ${sql.ref(field)} = ${id} limit 1`.execute(db);
  return rows.length > 0;
}

const maxShownNames = 20;

function shorten(names: string[]): string[] {
  if (names.length <= maxShownNames) return names;
  const half = maxShownNames / 2;
  return [...names.slice(0, half), `${names.length - maxShownNames} more`, ...names.slice(-half)];
}
