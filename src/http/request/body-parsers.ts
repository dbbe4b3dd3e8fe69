import { MIMEType } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { type FieldError, notAnObject, Problem } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { checkedText, shortened } from '../../core/text.ts';
import { repeatedMember } from '../../formats/json.ts';
import { pointerSegment } from './validation.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON bodies strictly, and normalizes every text in them. */
export function installBodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const types = ['application/json', 'application/merge-patch+json'];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients send a `Content-Type` without a body.
    if (body.length === 0) return done(null, undefined);
    const charset = charsetOf(request.headers['content-type']);
    if (charset !== undefined && !isUtf8(charset))
      return done(
        new Problem(
          'unsupported_media_type',
          `The charset “${shortened(charset, 40)}” is not supported. Send JSON encoded as UTF-8.`,
        ),
      );
    const excess = findExcess(body);
    if (excess) return done(excess);
    let text: string;
    try {
      text = utf8.decode(body);
    } catch (cause) {
      return done(
        new Problem('malformed_request', 'The body is not UTF-8. Send JSON encoded as UTF-8.', { cause }),
      );
    }
    parseJson(request, text, (error, value) => {
      if (error) return done(parseError(text));
      // Fastify treats a null body like a missing one.
      if (value === null) return done(notAnObject());
      // A large body takes tens of milliseconds to parse, validate and store, so yield to other requests in between.
      const next = body.length > yieldAboveBytes ? setImmediate : callNow;
      next(() => {
        try {
          const normalized = normalizeBody(value);
          const repeated = repeatedMember(text, value);
          if (repeated !== undefined) throw memberTwice(repeated);
          next(() => done(null, normalized));
        } catch (problem) {
          done(problem as Problem);
        }
      });
    });
  });
}

/** The charset in a `Content-Type` header. */
export function charsetOf(header: string | undefined): string | undefined {
  try {
    return new MIMEType(header ?? '').params.get('charset') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Whether a label is one of UTF-8, in any case. */
export function isUtf8(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding === 'utf-8';
  } catch {
    return false;
  }
}

const yieldAboveBytes = 64 * 1024;
const callNow = (step: () => void) => step();

const memberTwice = (name: string) =>
  new Problem(
    'malformed_request',
    `An object in the body has the member “${name}” twice. Remove one of them.`,
  );

/** The parser rejects invalid JSON, and member names that could pollute prototypes. */
function parseError(text: string): Problem {
  try {
    JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new Problem('malformed_request', `The body is not valid JSON: ${why}.`, { cause });
  }
  return new Problem(
    'malformed_request',
    'A member of the body is named `__proto__`, or is the `prototype` of a `constructor`. Rename it.',
  );
}

/** Passes files to the routes that accept them; other routes reject them. */
export function acceptFiles(app: FastifyInstance, types: string[]): void {
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, file: Buffer, done) => {
    if (request.routeOptions.config.accepts) return done(null, file);
    return done(new Problem('unsupported_media_type', 'Send the body as `Content-Type: application/json`.'));
  });
}

/**
 * Finds too many values or too deep nesting. It scans the bytes before parsing, because parsing a megabyte of brackets
 * takes a quarter of a second, and every value adds cost to each later step.
 */
function findExcess(body: Buffer): Problem | undefined {
  // A value and its separator take at least two bytes.
  if (body.length < 2 * limits.json_values) return undefined;
  let values = 1;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (isInString) {
      if (byte === backslash) i++;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === comma) values++;
    else if (byte === openArray || byte === openObject) {
      values++;
      depth++;
      // An empty list on the deepest level does not count as a level.
      if (depth > limits.json_depth + 1) return tooDeep();
    } else if (byte === closeArray || byte === closeObject) depth--;
    if (values > limits.json_values) return tooManyValues();
  }
  return undefined;
}

const [quote, backslash, comma, openArray, closeArray, openObject, closeObject] = Buffer.from('"\\,[]{}');

const tooDeep = () =>
  new Problem('malformed_request', `The body is nested deeper than ${limits.json_depth} levels. Flatten it.`);

const tooManyValues = () =>
  new Problem(
    'too_large',
    `The body has more than ${limits.json_values} values. Send fewer items, or split the request.`,
  );

/** Normalizes texts in place. Rejects deep nesting and forbidden characters. */
function normalizeBody(body: unknown): unknown {
  const errors: FieldError[] = [];
  const normalized = normalizeValue(['#'], body, 0, errors);
  if (errors.length > 0)
    throw new Problem('invalid_body', 'Some texts contain forbidden characters.', { errors });
  return normalized;
}

/** Normalizes a value at `path`, which is formatted as a JSON Pointer only for an error. */
export function normalizeValue(path: string[], value: unknown, depth: number, errors: FieldError[]): unknown {
  if (depth > limits.json_depth) throw tooDeep();
  if (typeof value === 'string') return normalizeText(path, value, errors);
  if (typeof value !== 'object' || value === null) return value;
  const container = value as Record<string, unknown>;
  for (const name of Object.keys(container)) {
    path.push(name);
    normalizeText(path, name, errors);
    container[name] = normalizeValue(path, container[name], depth + 1, errors);
    path.pop();
  }
  return container;
}

/** The maximum length of a text before normalization, in which a character may take several code units. */
const maxUnits = 4 * limits.text_characters;

function normalizeText(path: readonly string[], text: string, errors: FieldError[]): string {
  // The schema rejects a text this long in any form, so it is not worth checking.
  if (text.length > maxUnits) return text;
  const checked = checkedText(text);
  if (checked !== undefined) return checked;
  const [start, ...names] = path;
  const pointer = [start, ...names.map(pointerSegment)].join('/').toWellFormed();
  errors.push({ pointer, code: 'forbidden_characters', detail: forbiddenCharacters });
  return text;
}

export const forbiddenCharacters =
  'Remove control characters (except newline and tab), broken Unicode, and runs of more than 30 combining marks.';
