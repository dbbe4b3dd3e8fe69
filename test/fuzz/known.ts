import { type Description, type Operation, referencePatterns } from './document.ts';
import type { ServiceResponse } from './send.ts';

export type Params = Record<string, string>;
export type Known = ReturnType<typeof recordResources>;

/** Values stored per kind; the oldest are dropped first. */
const maxPerKind = 80;

/** Records the resources in a service from its responses, so that later requests can refer to them. */
export function recordResources({ operations, match, templates }: Description, protectedIds: string[]) {
  const references = new Map(referencePatterns(operations).map((pattern) => [pattern, [] as string[]]));
  const places = new Map(templates.map((template) => [template, [] as Params[]]));
  const aliases = new Map<string, string>();
  const labels = new Map<string, string>();
  const cursors: string[] = [];
  const tags: string[] = [];
  const secrets: string[] = [];

  /** Stores an id or key that a request can refer to. */
  function learn(token: string): void {
    if (protectedIds.includes(token)) return;
    for (const [pattern, known] of references)
      if (new RegExp(pattern).test(token) && !known.includes(token)) store(known, token);
  }

  function learnAll(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { id, key, secret } = value as Record<string, unknown>;
    if (typeof id === 'string' && typeof key === 'string') aliases.set(id, key);
    if (typeof secret === 'string') store(secrets, secret);
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && /(^|_)(id|key)$/.test(name)) learn(member);
      else learnAll(member);
    }
  }

  function learnPlace(location: string): void {
    const found = match(new URL(location).pathname);
    if (!found) return;
    const { template, params } = found;
    const [last = ''] = Object.keys(params).slice(-1);
    const alias = aliases.get(params[last] ?? '');
    for (const place of [params, ...(alias ? [{ ...params, [last]: alias }] : [])]) {
      store(places.get(template) ?? [], place);
    }
  }

  function forget(token: string): void {
    const names = [token, aliases.get(token), [...aliases].find(([, alias]) => alias === token)?.[0]];
    for (const list of references.values()) drop(list, (known) => names.includes(known));
    for (const list of places.values())
      drop(list, (place) => Object.values(place).some((name) => names.includes(name)));
  }

  return {
    learn(operation: Operation, params: Params, response: ServiceResponse, pick: number): void {
      if (response.status >= 300) return;
      if (operation.method === 'GET') {
        const cursor = (response.json as { page?: { next_cursor?: string } } | undefined)?.page?.next_cursor;
        if (cursor) store(cursors, cursor);
        const tag = response.headers.etag;
        if (tag) store(tags, tag);
        return;
      }
      learnAll(response.json);
      if (response.headers.location) learnPlace(response.headers.location);
      // Keep some deleted resources: requests for them must get a correct response, too.
      if (operation.method === 'DELETE' && pick % 4 !== 0) forget(Object.values(params).at(-1) ?? '');
    },

    /** Values for the path parameters, taken from one existing resource if possible. */
    place({ template, parameters }: Operation, pick: number, isMixed: boolean): Params {
      const pathParameters = parameters.filter((parameter) => parameter.in === 'path');
      const prefixes = [...template.matchAll(/\}/g)]
        .map(({ index }) => template.slice(0, index + 1))
        .reverse();
      const known = isMixed
        ? []
        : (prefixes.map((prefix) => places.get(prefix) ?? []).find((list) => list.length > 0) ?? []);
      const chosen = known[pick % Math.max(known.length, 1)] ?? {};
      return Object.fromEntries(
        pathParameters.map(({ name, schema }, i) => [
          name,
          chosen[name] ?? this.refer(schema.pattern ?? '', pick + i),
        ]),
      );
    },

    /** An existing id or key that matches the pattern, or an unused id when there is none yet. */
    refer: (pattern: string, pick: number): string =>
      pickFrom(references.get(pattern) ?? [], pick) ?? unusedId(pattern),

    cursor: (pick: number) => pickFrom(cursors, pick),
    tag: (pick: number) => pickFrom(tags, pick),
    secret: (pick: number) => pickFrom(secrets, pick),
    hasPlace: (template: string) => (places.get(template)?.length ?? 0) > 0,

    /** Replaces every id with the order in which it was first seen, so that services can be compared. */
    label: (text: string) =>
      text.replace(/[a-z]{3}_[0-9a-v]{26}/gi, (id) => {
        const label = labels.get(id.toLowerCase()) ?? `${id.slice(0, 3)}#${labels.size}`;
        labels.set(id.toLowerCase(), label);
        return label;
      }),
  };
}

const pickFrom = <T>(list: T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

function store<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > maxPerKind) list.shift();
}

function drop<T>(list: T[], isGone: (item: T) => boolean): void {
  list.splice(0, list.length, ...list.filter((item) => !isGone(item)));
}

const unusedId = (pattern: string) => `${/^\^([a-z]{3})_/.exec(pattern)?.[1] ?? 'xxx'}_${'0'.repeat(26)}`;
