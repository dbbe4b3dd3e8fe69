import type { Moment } from '../../core/clock.ts';
import { presets } from '../../core/scopes.ts';
import type { Database } from '../../database/open.ts';
import type { Access } from '../../resources/access/schema.ts';
import { listAccess } from '../../store/access/access.ts';
import { table } from './tables.ts';

export const listAccessCommand = ({ db }: Database): Promise<Access[]> => listAccess(db);

/** A header, and one line per person. */
export function accessTable(people: readonly Access[], { now }: Moment): string {
  if (people.length === 0)
    return 'Nobody has access yet. Give it in the console: People, a person, Access. Programs use API keys.';
  const rows = people.map((access) => [
    access.user_id,
    access.name,
    access.email ?? '-',
    accessName(access),
    access.project_ids?.join(',') ?? 'all',
    access.source,
    waysOf(access, now),
    access.last_seen_at?.slice(0, 10) ?? 'never',
  ]);
  return table(['ID', 'NAME', 'EMAIL', 'ACCESS', 'PROJECTS', 'SOURCE', 'SIGNS IN WITH', 'LAST SEEN'], rows);
}

/** The name of the preset with these scopes, or the scopes. */
function accessName({ scopes }: Access): string {
  const isSame = (preset: readonly string[]) =>
    preset.length === scopes.length && scopes.every((scope) => preset.includes(scope));
  return Object.entries(presets).find(([, preset]) => isSame(preset))?.[0] ?? scopes.join(',');
}

function waysOf({ ways, invited_until }: Access, now: string): string {
  const isInvited = invited_until !== null && invited_until > now;
  return [...ways, ...(isInvited ? ['(invited)'] : [])].join(', ') || 'nothing yet';
}
