import { Problem } from '../../core/errors.ts';
import { type Scope, scopes } from '../../resources/keys/schema.ts';

/** `X.manage` grants `X.read`; nothing else is implied. */
export const grants = (held: readonly Scope[], needed: Scope) =>
  held.includes(needed) || held.includes(granting[needed]);

const granting = Object.fromEntries(
  scopes.map((scope) => [scope, scope.replace('.read', '.manage')]),
) as Record<Scope, Scope>;

/** What of `wanted` is not granted. */
export const missingScopes = (held: readonly Scope[], wanted: readonly Scope[]) =>
  wanted.filter((scope) => !grants(held, scope));

/** 403 in the words of RFC 6750. */
export function insufficientScope(detail: string, missing: readonly Scope[]): Problem {
  const scope = missing.join(' ');
  return new Problem('insufficient_scope', detail, {
    headers: { 'www-authenticate': `Bearer realm="muster", error="insufficient_scope", scope="${scope}"` },
    extra: { scope },
  });
}
