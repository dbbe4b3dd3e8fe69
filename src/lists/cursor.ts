import { hash } from 'node:crypto';
import { invalidParameter, Problem } from '../core/errors.ts';
import { boundOf, type Order } from './keyset.ts';

/** The end of a page. Opaque to clients, and valid only for the query it was created for. */
export type Cursor = {
  /** The order key of the last row. */
  after: string;
  /** The number of rows before the next one, and the data version for which it is correct. */
  position: number;
  version: string;
};

export const fingerprint = (query: unknown) =>
  hash('sha256', JSON.stringify(query), 'base64url').slice(0, 12);

export const encodeCursor = (query: unknown, { after, position, version }: Cursor) =>
  Buffer.from(JSON.stringify([fingerprint(query), after, position, version])).toString('base64url');

export function decodeCursor(query: unknown, text: string, order: Order): Cursor {
  const [cursorFingerprint, after, position, version] = parse(text);
  const isCursor =
    typeof cursorFingerprint === 'string' &&
    typeof after === 'string' &&
    isCount(position) &&
    typeof version === 'string';
  if (!isCursor) throw invalidCursor();
  if (cursorFingerprint !== fingerprint(query)) {
    const detail =
      'This cursor belongs to another query. Use the same filters and sort as before, or start again without it.';
    throw new Problem('cursor_mismatch', detail, {
      errors: [{ parameter: 'cursor', code: 'cursor_mismatch', detail }],
    });
  }
  const isNumber = /^\d+$/.test(after) && isCount(Number(after));
  if (!boundOf(order, after) || (order.isNumber && !isNumber)) throw invalidCursor();
  return { after, position: Number(position), version };
}

const invalidCursor = () =>
  invalidParameter(
    'cursor',
    'This is not a valid cursor. Use `page.next_cursor` of the previous page, unchanged.',
  );

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

function parse(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64url')),
    );
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
