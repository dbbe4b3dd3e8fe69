import type { FastifyInstance } from 'fastify';
import { type Fault, notAnObject, Problem } from '../errors.ts';
import { limits } from '../schemas.ts';
import { hasForbiddenCharacters, normalise } from '../text.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads JSON bodies, strictly, and brings every text in them into the one form the service keeps. */
export function readBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  const types = ['application/json', 'application/merge-patch+json'];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients name a type even when they send nothing.
    if (body.length === 0) return done(null, undefined);
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
      try {
        done(null, tidy(value));
      } catch (problem) {
        done(problem as Problem);
      }
    });
  });
}

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
export function takeFiles(app: FastifyInstance, types: string[]): void {
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, file: Buffer, done) => {
    if (request.routeOptions.config.takesFile) return done(null, file);
    return done(new Problem('unsupported_media_type', 'Send the body as `Content-Type: application/json`.'));
  });
}

/** Texts normalised, in place; refuses what is nested too deep and characters no text may have. */
function tidy(body: unknown): unknown {
  const faults: Fault[] = [];
  const tidied = tidyValue(body, '#', 0, faults);
  if (faults.length > 0)
    throw new Problem('invalid_body', 'Some texts have forbidden characters.', { errors: faults });
  return tidied;
}

/** The same for a value inside a body. */
export function tidyValue(value: unknown, pointer: string, depth: number, faults: Fault[]): unknown {
  if (depth > limits.json_depth) {
    throw new Problem(
      'malformed_request',
      `The body is nested deeper than ${limits.json_depth}. Flatten it.`,
    );
  }
  if (typeof value === 'string') return tidyText(value, pointer, faults);
  if (typeof value !== 'object' || value === null) return value;
  const container = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(container)) {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    tidyText(name, at, faults);
    container[name] = tidyValue(member, at, depth + 1, faults);
  }
  return container;
}

function tidyText(text: string, pointer: string, faults: Fault[]): string {
  if (hasForbiddenCharacters(text)) {
    const detail = 'Text must not have control characters other than newline and tab, nor broken Unicode.';
    faults.push({ pointer: pointer.toWellFormed(), code: 'forbidden_characters', detail });
  }
  return normalise(text);
}
