import { fieldError, invalidBody } from '../../core/errors.ts';
import {
  type AccessLimits,
  grants,
  insufficientScope,
  missingScopes,
  type Scope,
} from '../../core/scopes.ts';
import { joinWords } from '../../core/text.ts';
import { eventTypes, type SubjectType, subjects } from '../events/schema.ts';
import type { Webhook, WebhookInput } from './schema.ts';

const typeNames = Object.keys(eventTypes);
const readScopes = [...new Set(Object.values(subjects).map(({ scope }) => scope))];

/** The read scopes of a key. A webhook keeps those of the key that created it. */
export const readScopesOf = ({ scopes }: Pick<AccessLimits, 'scopes'>): Scope[] =>
  readScopes.filter((scope) => grants(scopes, scope));

/** Returns whether an event has one of the types that the patterns stand for, in `type` or in `also`, which is JSON. */
export function matchesTypes(
  patterns: readonly string[],
): (event: { type: string; also: string }) => boolean {
  const known = new Map<string, boolean>();
  const isWanted = (type: string) => {
    const isKnown = known.get(type) ?? patterns.some((pattern) => matches(pattern, type));
    known.set(type, isKnown);
    return isKnown;
  };
  return ({ type, also }) => isWanted(type) || (also !== '[]' && JSON.parse(also).some(isWanted));
}

/** `*` matches all types, `risk.*` those of risks. */
const matches = (pattern: string, type: string) =>
  pattern === type || pattern === '*' || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)));

/** Throws unless the webhook can send events for each of its types. */
export function assertTypesReadable({ types, scopes }: Pick<Webhook, 'types' | 'scopes'>): void {
  const unknown = types.flatMap((pattern, index) => {
    if (typeNames.some((type) => matches(pattern, type))) return [];
    const detail = `There is no event type ${pattern}. Use one of ${typeNames.join(', ')}, or a pattern such as risk.*.`;
    return [fieldError(`types/${index}`, 'unknown_type', detail)];
  });
  if (unknown.length > 0) throw invalidBody(unknown);
  const needed = types
    .filter((pattern) => pattern !== '*')
    .map((pattern) => subjects[pattern.split('.')[0] as SubjectType]?.scope);
  const missing = [...new Set(missingScopes(scopes, needed))];
  if (missing.length > 0) {
    throw insufficientScope(
      `A webhook reads events with the scopes of the key that creates it. These types require ${joinWords(missing)}.`,
      missing,
    );
  }
}

/** Throws if the webhook reads more than the key: a key that changes its URL or secret could receive all of it. */
export function assertReadsNoMore({ scopes }: Webhook, actor: AccessLimits): void {
  const missing = missingScopes(actor.scopes, scopes);
  if (missing.length === 0) return;
  throw insufficientScope(
    `Your key cannot manage a webhook that reads more than the key itself. It lacks ${joinWords(missing)}.`,
    missing,
  );
}

/** A limited key cannot see, and so cannot name, other projects: only the missing limit must be rejected. */
export function assertWithinProjects(
  { project_ids }: Pick<WebhookInput, 'project_ids'>,
  actor: AccessLimits,
): void {
  if (project_ids !== null || actor.project_ids === null) return;
  const detail = 'Your key is limited to projects. Set `project_ids` to some of them, or leave it out.';
  throw invalidBody([fieldError('project_ids', 'beyond_own', detail)]);
}
