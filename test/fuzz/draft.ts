import type { Operation } from './document.ts';
import type { Params } from './known.ts';
import type { Wire } from './send.ts';

/** Whose key few requests use, because the service must reject most of those. */
export const rareActors = ['other', 'none', 'garbage', 'revoked', 'expired', 'limited', 'created'] as const;

export type Actor = 'all' | 'exact' | (typeof rareActors)[number];

/** A request under construction: resolved from a plan, then mutated. */
export type Draft = {
  operation: Operation;
  actor: Actor;
  method: string;
  path: string;
  params: Params;
  query: Pair[];
  headers: Record<string, string>;
  json?: unknown;
  bytes?: Buffer;
  contentType?: string;
  /** Whether the path and the method are still those of the operation. */
  targetsOperation: boolean;
  isMutated: boolean;
  /** Whether to measure event-loop stalls while the service handles it. */
  isOversized?: true;
  /** Whether all services must return the same response; false for a cursor that only one of them issued. */
  isComparable: boolean;
};

/** A query parameter; `value` is undefined when `sent` cannot be decoded. */
export type Pair = { name: string; value: string | undefined; sent: string };

export const isJsonType = (type: string) => /^application\/([\w-]+\+)?json$/.test(type);

export const textInQuery = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(textInQuery).join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** `encodeURIComponent` rejects lone surrogates, so this appends the three bytes of one. */
export const encoded = (text: string) =>
  text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ED%A0%80`;

export const pair = (name: string, value: string): Pair => ({
  name,
  value: value.isWellFormed() ? value : undefined,
  sent: `${encoded(name)}=${encoded(value)}`,
});

export function wireOf(draft: Draft, secret: string | undefined): Wire {
  const { method, path, query, headers, json, bytes, contentType } = draft;
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json)));
  return {
    method,
    path: query.length === 0 ? path : `${path}?${query.map(({ sent }) => sent).join('&')}`,
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(contentType !== undefined && body !== undefined && { 'content-type': contentType }),
      ...headers,
    },
    ...(body && { body }),
  };
}
