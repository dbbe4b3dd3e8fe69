import { Problem } from '../../core/errors.ts';
import { type Scope, scopes } from '../../resources/keys/schema.ts';

/** `X.manage` grants `X.read`; nothing else is implied. */
export const grants = (held: readonly Scope[], needed: Scope) =>
  held.includes(needed) || held.includes(granting[needed]);

const granting = Object.fromEntries(
  scopes.map((scope) => [scope, scope.replace('.read', '.manage')]),
) as Record<Scope, Scope>;

export const missingScopes = (held: readonly Scope[], requested: readonly Scope[]) =>
  requested.filter((scope) => !grants(held, scope));

/** 403 with the challenge that RFC 6750 defines. */
export function insufficientScope(detail: string, missing: readonly Scope[]): Problem {
  const scope = missing.join(' ');
  return new Problem('insufficient_scope', detail, {
    headers: { 'www-authenticate': `Bearer realm="muster", error="insufficient_scope", scope="${scope}"` },
    extra: { scope },
  });
}
