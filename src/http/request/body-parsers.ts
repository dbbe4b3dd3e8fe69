import type { FastifyInstance } from 'fastify';
import { type FieldError, notAnObject, Problem } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { checkedText } from '../../core/text.ts';
import { pointerSegment } from './validation.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads JSON bodies, strictly, and brings every text in them into the one form the service keeps. */
export function installBodyParsers(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const types = ['application/json', 'application/merge-patch+json'];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients name a type even when they send nothing.
    if (body.length === 0) return done(null, undefined);
    const excess = excessOf(body);
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
      if (error) return done(unreadable(text));
      // To the framework it would look as if nothing had been sent.
      if (value === null) return done(notAnObject());
      // A large body takes tens of milliseconds to parse, to check and to store: other requests get a turn in between.
      const next = body.length > maxUninterruptedBytes ? setImmediate : callNow;
      next(() => {
        try {
          const normalized = normalizeBody(value);
          next(() => done(null, normalized));
        } catch (problem) {
          done(problem as Problem);
        }
      });
    });
  });
}

const maxUninterruptedBytes = 64 * 1024;
const callNow = (step: () => void) => step();

/** What the parser refuses: text that is no JSON, and names that would reach into JavaScript's own objects. */
function unreadable(text: string): Problem {
  try {
    JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new Problem('malformed_request', `The body is not JSON: ${why}.`, { cause });
  }
  return new Problem(
    'malformed_request',
    'A member of the body is called `__proto__`, or is the `prototype` of a `constructor`. Give it another name.',
  );
}

/** Lets routes that take files have them as they are; the others refuse them. */
export function acceptFiles(app: FastifyInstance, types: string[]): void {
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, file: Buffer, done) => {
    if (request.routeOptions.config.accepts) return done(null, file);
    return done(new Problem('unsupported_media_type', 'Send the body as `Content-Type: application/json`.'));
  });
}

/**
 * Whether there are more values than any valid body has, or they are nested too deep. Looked for in the bytes, because to
 * parse a megabyte of brackets takes a quarter of a second, and each value costs something in every later step.
 */
function excessOf(body: Buffer): Problem | undefined {
  // A value takes two bytes at least, with what separates it from the next.
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
      // An empty list inside the deepest level is no level of its own.
      if (depth > limits.json_depth + 1) return tooDeep();
    } else if (byte === closeArray || byte === closeObject) depth--;
    if (values > limits.json_values) return tooManyValues();
  }
  return undefined;
}

const [quote, backslash, comma, openArray, closeArray, openObject, closeObject] = Buffer.from('"\\,[]{}');

const tooDeep = () =>
  new Problem('malformed_request', `The body is nested deeper than ${limits.json_depth}. Flatten it.`);

const tooManyValues = () =>
  new Problem(
    'too_large',
    `The body has more than ${limits.json_values} values. Send fewer items, or split the request.`,
  );

/** Texts normalised, in place; refuses what is nested too deep and characters no text may have. */
function normalizeBody(body: unknown): unknown {
  const errors: FieldError[] = [];
  const normalized = normalizeValue(body, '#', 0, errors);
  if (errors.length > 0)
    throw new Problem('invalid_body', 'Some texts have forbidden characters.', { errors });
  return normalized;
}

/** The same for a value inside a body. */
export function normalizeValue(
  value: unknown,
  pointer: string,
  depth: number,
  errors: FieldError[],
): unknown {
  return tidyAt([pointer], value, depth, errors);
}

/** `path` names where the value is. It becomes a pointer only where something is wrong. */
function tidyAt(path: string[], value: unknown, depth: number, errors: FieldError[]): unknown {
  if (depth > limits.json_depth) throw tooDeep();
  if (typeof value === 'string') return normalizeText(path, value, errors);
  if (typeof value !== 'object' || value === null) return value;
  const container = value as Record<string, unknown>;
  for (const name of Object.keys(container)) {
    path.push(name);
    normalizeText(path, name, errors);
    container[name] = tidyAt(path, container[name], depth + 1, errors);
    path.pop();
  }
  return container;
}

/** The longest text, with each of its characters decomposed into as many units as Unicode has for one. */
const maxUnits = 4 * limits.text_characters;

function normalizeText(path: readonly string[], text: string, errors: FieldError[]): string {
  // Longer than any text may be, however it is composed: not worth looking at, because the schema rejects it.
  if (text.length > maxUnits) return text;
  const checked = checkedText(text);
  if (checked !== undefined) return checked;
  const [start, ...names] = path;
  const pointer = [start, ...names.map(pointerSegment)].join('/').toWellFormed();
  const detail =
    'Text must not have control characters other than newline and tab, broken Unicode, ' +
    'nor more than 30 combining marks in a row.';
  errors.push({ pointer, code: 'forbidden_characters', detail });
  return text;
}
