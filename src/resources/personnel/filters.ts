import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { fold, lowerAscii } from '../../core/text.ts';
import { allOf, always, contains, equals, hasText, holds, isIn, since } from '../../lists/filters.ts';
import type { Filters } from '../../lists/query.ts';
import { isMember, rejectLoneTransitive } from '../groups/membership.ts';
import type { personnelFilters } from './schema.ts';

export type PersonnelFilters = Filters<typeof personnelFilters>;

export function personnelConditions(filters: PersonnelFilters, moment: Moment) {
  const { transitive = false } = filters;
  rejectLoneTransitive(filters, 'group_id');
  if (filters.search && filters.q === undefined)
    throw invalidParameter('search', '`search` needs `q`. Add `q` or remove `search`.');
  return allOf(filters, {
    q: filters.search === 'all' ? hasTextAnywhere : hasText('people.search_folded'),
    search: always,
    status: isIn('people.status'),
    kind: isIn('people.kind'),
    group_id: (id) => isMember('people.user_id', id, transitive),
    transitive: always,
    manager_user_id: equals('people.manager_user_id'),
    department: (text) => equals('people.department_folded')(fold(text)),
    location: (text) => sql<boolean>`lower(people.location) = ${lowerAscii(text)}`,
    skill: (text) => contains('people.skills_folded', `\n${fold(text)}\n`),
    assignable: holds(isAssignable(moment)),
    user_ids: isIn('people.user_id'),
    email: (email) => sql<boolean>`lower(people.email) = ${lowerAscii(email)}`,
    external_id: equals('people.external_id'),
    updated_since: since(peopleKeys.updated_at),
  });
}

/** For `q` with `search=all`. The location is not stored folded. */
const hasTextAnywhere = (text: string) => {
  const folded = fold(text);
  return sql<boolean>`(${hasText('people.search_folded')(text)}
    or ${contains(sql`coalesce(people.department_folded, '')`, folded)}
    or ${contains('people.skills_folded', folded)}
    or ${contains(sql`lower(coalesce(people.location, ''))`, lowerAscii(text))})`;
};

/** The keys that sort people; each has an index. The one of `updated_at` also finds those that changed since a time. */
export const peopleKeys = {
  name: sql.ref<string>('people.roster_key'),
  created_at: sql<string>`(people.created_at || people.user_id)`,
  updated_at: sql<string>`(people.updated_at || people.user_id)`,
};

export const isAssignable = ({ today }: Moment) =>
  sql<boolean>`(people.status = 'active' and (people.start_on is null or people.start_on <= ${today})
    and (people.end_on is null or people.end_on >= ${today}))`;
