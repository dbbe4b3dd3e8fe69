import { type Kysely, sql } from 'kysely';
import { type FieldError, fieldError } from '../../core/errors.ts';
import type { Tables } from '../tables.ts';
import type { Target } from '../writes/references.ts';

type Member = { id: string; label: string; above: string | null };

/** Walking a longer line would block the event loop. */
const maxLineLength = 10_000;

/** From something up to the top: itself, what `field` of it names, what that names, and so on, up to a limit. */
export async function ancestors(
  db: Kysely<Tables>,
  { table, id, label = 'name' }: Target,
  field: string,
  start: string,
): Promise<Member[]> {
  // A `union` ends even if there were a cycle.
  const { rows } = await sql<Member>`
    select ${sql.ref(id)} as id, ${sql.ref(label)} as label, ${sql.ref(field)} as above
    from ${sql.table(table)} where ${sql.ref(id)} in (
      with recursive line(member) as (
        select ${sql.ref(id)} from ${sql.table(table)} where ${sql.ref(id)} = ${start}
        union
        select ${sql.ref(field)} from ${sql.table(table)} join line on ${sql.ref(id)} = line.member
        where ${sql.ref(field)} is not null
      )
      select member from line limit ${sql.lit(maxLineLength)})`.execute(db);
  const members = new Map(rows.map((row) => [row.id, row]));
  const line: Member[] = [];
  for (let next = members.get(start); next; next = members.get(next.above ?? '')) {
    line.push(next);
    members.delete(next.id);
  }
  return line;
}

/** An error that names the cycle which `field` of something would close. Lock the table before. */
export async function cycleErrors(
  db: Kysely<Tables>,
  target: Target,
  field: string,
  self: { id: string; label: string },
  above: string | null | undefined,
): Promise<FieldError[]> {
  if (above == null) return [];
  // Nothing leads back to something that nothing names: no line need be walked for what stands at the bottom.
  if (above !== self.id && !(await isNamed(db, target, field, self.id))) return [];
  const line = await ancestors(db, target, field, above);
  const end = line.findIndex(({ id }) => id === self.id);
  if (end === -1 && line.length < maxLineLength) return [];
  if (end === -1) {
    const detail = `More than ${maxLineLength} stand above this one, too many to tell whether it would close a cycle.`;
    return [fieldError(field, 'too_deep', detail)];
  }
  const names = [self, ...line.slice(0, end), self].map(({ id, label }) => `${label} (${id})`);
  return [fieldError(field, 'cycle', `This would close a cycle: ${shortened(names).join(' → ')}.`)];
}

async function isNamed(db: Kysely<Tables>, { table }: Target, field: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table)} where ${sql.ref(field)} = ${id} limit 1`.execute(db);
  return rows.length > 0;
}

const shownMembers = 20;

function shortened(names: string[]): string[] {
  if (names.length <= shownMembers) return names;
  const half = shownMembers / 2;
  return [...names.slice(0, half), `${names.length - shownMembers} others`, ...names.slice(-half)];
}
