import { type Kysely, sql } from 'kysely';
import { type Fault, fieldFault } from '../errors.ts';
import type { Target } from './references.ts';
import type { Tables } from './tables.ts';

type Member = { id: string; label: string; above: string | null };

/** From something up to the top: itself, what `field` of it names, what that names, and so on. */
export async function lineAbove(
  db: Kysely<Tables>,
  { table, id, label = 'name' }: Target,
  field: string,
  start: string,
): Promise<Member[]> {
  // A `union` ends even if there were a circle.
  const { rows } = await sql<Member>`
    select ${sql.ref(id)} as id, ${sql.ref(label)} as label, ${sql.ref(field)} as above
    from ${sql.table(table)} where ${sql.ref(id)} in (
      with recursive line(member) as (
        select ${sql.ref(id)} from ${sql.table(table)} where ${sql.ref(id)} = ${start}
        union
        select ${sql.ref(field)} from ${sql.table(table)} join line on ${sql.ref(id)} = line.member
        where ${sql.ref(field)} is not null
      )
      select member from line)`.execute(db);
  const members = new Map(rows.map((row) => [row.id, row]));
  const line: Member[] = [];
  for (let next = members.get(start); next; next = members.get(next.above ?? '')) {
    line.push(next);
    members.delete(next.id);
  }
  return line;
}

/** A fault that names the circle which `field` of something would close. Lock the table before. */
export async function circleFaults(
  db: Kysely<Tables>,
  target: Target,
  field: string,
  self: { id: string; label: string },
  above: string | null | undefined,
): Promise<Fault[]> {
  if (above == null) return [];
  const line = await lineAbove(db, target, field, above);
  const end = line.findIndex(({ id }) => id === self.id);
  if (end === -1) return [];
  const names = [self, ...line.slice(0, end), self].map(({ id, label }) => `${label} (${id})`);
  return [fieldFault(field, 'circle', `This would close a circle: ${shortened(names).join(' → ')}.`)];
}

const shownMembers = 20;

function shortened(names: string[]): string[] {
  if (names.length <= shownMembers) return names;
  const half = shownMembers / 2;
  return [...names.slice(0, half), `${names.length - shownMembers} others`, ...names.slice(-half)];
}
