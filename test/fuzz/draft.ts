import type { Operation } from './document.ts';
import type { Params } from './known.ts';
import type { Wire } from './send.ts';

export type Actor =
  | 'all'
  | 'exact'
  | 'other'
  | 'none'
  | 'garbage'
  | 'revoked'
  | 'expired'
  | 'limited'
  | 'made';

/** A request being made: what was planned, then damaged. */
export type ParsedRow = {
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
  isPlaced: boolean;
  isDamaged: boolean;
  /** Whether it is so large that the event loop is watched while it is answered. */
  isOversized?: true;
  /** Whether two services that agree must answer the same: not for what only one of them can have issued. */
  isComparable: boolean;
};

/** A query parameter: `value` is undefined when what is sent cannot be decoded. */
export type Pair = { name: string; value: string | undefined; sent: string };

export const isJsonType = (type: string) => /^application\/([\w-]+\+)?json$/.test(type);

export const textInQuery = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(textInQuery).join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** Lone surrogates cannot be percent-encoded; they are sent as the three bytes they would have. */
export const encoded = (text: string) =>
  text.isWellFormed() ? encodeURIComponent(text) : `${encodeURIComponent(text.toWellFormed())}%ED%A0%80`;

export const pair = (name: string, value: string): Pair => ({
  name,
  value: value.isWellFormed() ? value : undefined,
  sent: `${encoded(name)}=${encoded(value)}`,
});

export function wireOf(draft: ParsedRow, secret: string | undefined): Wire {
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
