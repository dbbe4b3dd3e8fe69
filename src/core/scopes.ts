import { Problem } from './errors.ts';

/** What a key or a person may do. */
export const scopes = [
  'personnel.read',
  'personnel.manage',
  'projects.read',
  'projects.manage',
  'events.read',
  'events.manage',
  'keys.read',
  'keys.manage',
  'metrics.read',
] as const;

export type Scope = (typeof scopes)[number];

const viewer = ['personnel.read', 'projects.read', 'events.read'] as const;

/** The sets of scopes that the console and `MUSTER_OIDC_ACCESS` offer. */
export const presets: Readonly<Record<'viewer' | 'editor' | 'administrator', readonly Scope[]>> = {
  viewer,
  editor: [...viewer, 'projects.manage'],
  administrator: scopes,
};

/** `X.manage` grants `X.read`; nothing else is implied. */
export const grants = (held: readonly Scope[], needed: Scope) =>
  held.includes(needed) || held.includes(granting[needed]);

const granting = Object.fromEntries(
  scopes.map((scope) => [scope, scope.replace('.read', '.manage')]),
) as Record<Scope, Scope>;

export const missingScopes = (held: readonly Scope[], requested: readonly Scope[]) =>
  requested.filter((scope) => !grants(held, scope));

/** The access that two sets of scopes and projects have in common. Projects that are null are all projects. */
export function commonAccess(one: AccessLimits, other: AccessLimits): AccessLimits {
  const ids = other.project_ids;
  return {
    scopes: scopes.filter((scope) => grants(one.scopes, scope) && grants(other.scopes, scope)),
    project_ids:
      one.project_ids === null || ids === null
        ? (one.project_ids ?? ids)
        : one.project_ids.filter((id) => ids.includes(id)),
  };
}

/** Whether `next` allows anything that `current` does not. */
export const isWider = (current: AccessLimits, next: AccessLimits): boolean =>
  missingScopes(current.scopes, next.scopes).length > 0 ||
  (current.project_ids !== null &&
    (next.project_ids?.some((id) => !current.project_ids?.includes(id)) ?? true));

export type AccessLimits = { scopes: Scope[]; project_ids: string[] | null };

/** 403 with the challenge that RFC 6750 defines. */
export function insufficientScope(detail: string, missing: readonly Scope[]): Problem {
  const scope = missing.join(' ');
  return new Problem('insufficient_scope', detail, {
    headers: { 'www-authenticate': `Bearer realm="muster", error="insufficient_scope", scope="${scope}"` },
    extra: { scope },
  });
}
