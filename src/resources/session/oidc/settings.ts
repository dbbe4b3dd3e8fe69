import type { Config } from '../../../config.ts';
import type { Scope } from '../../../core/scopes.ts';

/** The settings of the identity provider; null without one. */
export function oidcSettings(config: Config) {
  const { oidc_issuer: issuer, oidc_client_id: clientId } = config;
  if (issuer === undefined || clientId === undefined) return null;
  return {
    issuer,
    clientId,
    clientSecret: config.oidc_client_secret,
    label: config.oidc_label,
    redirect: config.oidc_redirect,
    scope: config.oidc_scopes,
    domains: config.oidc_domains.map((domain) => domain.toLowerCase()),
    trustsEmail: config.oidc_trust_email,
    addsPeople: config.oidc_add_people,
    claim: config.oidc_claim,
    access: config.oidc_access,
    defaultAccess: config.oidc_default_access,
  };
}

export type OidcSettings = NonNullable<ReturnType<typeof oidcSettings>>;

/** The scopes that follow from the claims of a person; undefined if nothing matches. The claim is a text or a list of texts. */
export function scopesOf(settings: OidcSettings, claims: Record<string, unknown>): Scope[] | undefined {
  const values = new Set([claims[settings.claim]].flat());
  const matching = settings.access.filter(({ value }) => values.has(value));
  const granted = matching.length > 0 ? matching.flatMap(({ scopes }) => scopes) : settings.defaultAccess;
  return granted.length > 0 ? [...new Set(granted)] : undefined;
}
