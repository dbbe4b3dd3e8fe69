import { type Description, type Operation, referencePatterns } from './document.ts';
import type { Answer } from './send.ts';

export type Params = Record<string, string>;
export type Known = ReturnType<typeof recordResources>;

/** As many of a kind as are kept to choose from; the oldest go first. */
const maxOfAKind = 80;

/** What exists in a service, learnt from its answers, so that requests can be about things that are there. */
export function recordResources({ operations, match, templates }: Description, untouchable: string[]) {
  const things = new Map(referencePatterns(operations).map((pattern) => [pattern, [] as string[]]));
  const places = new Map(templates.map((template) => [template, [] as Params[]]));
  const aliases = new Map<string, string>();
  const labels = new Map<string, string>();
  const cursors: string[] = [];
  const tags: string[] = [];
  const secrets: string[] = [];

  /** A name under which something may be referred to. */
  function learn(token: string): void {
    if (untouchable.includes(token)) return;
    for (const [pattern, known] of things)
      if (new RegExp(pattern).test(token) && !known.includes(token)) keep(known, token);
  }

  function learnAll(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { id, key, secret } = value as Record<string, unknown>;
    if (typeof id === 'string' && typeof key === 'string') aliases.set(id, key);
    if (typeof secret === 'string') keep(secrets, secret);
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
      keep(places.get(template) ?? [], place);
    }
  }

  function forget(token: string): void {
    const names = [token, aliases.get(token), [...aliases].find(([, alias]) => alias === token)?.[0]];
    for (const list of things.values()) drop(list, (known) => names.includes(known));
    for (const list of places.values())
      drop(list, (place) => Object.values(place).some((name) => names.includes(name)));
  }

  return {
    learn(operation: Operation, params: Params, answer: Answer, pick: number): void {
      if (answer.status >= 300) return;
      if (operation.method === 'GET') {
        const cursor = (answer.json as { page?: { next_cursor?: string } } | undefined)?.page?.next_cursor;
        if (cursor) keep(cursors, cursor);
        const tag = answer.headers.etag;
        if (tag) keep(tags, tag);
        return;
      }
      learnAll(answer.json);
      if (answer.headers.location) learnPlace(answer.headers.location);
      // Some of what is gone stays to choose from: it must be answered well, too.
      if (operation.method === 'DELETE' && pick % 4 !== 0) forget(Object.values(params).at(-1) ?? '');
    },

    /** Values for the parameters of a path: those of one existing thing as far as there is one. */
    place({ template, parameters }: Operation, pick: number, isMixed: boolean): Params {
      const wanted = parameters.filter((parameter) => parameter.in === 'path');
      const prefixes = [...template.matchAll(/\}/g)]
        .map(({ index }) => template.slice(0, index + 1))
        .reverse();
      const known = isMixed
        ? []
        : (prefixes.map((prefix) => places.get(prefix) ?? []).find((list) => list.length > 0) ?? []);
      const chosen = known[pick % Math.max(known.length, 1)] ?? {};
      return Object.fromEntries(
        wanted.map(({ name, schema }, i) => [
          name,
          chosen[name] ?? this.refer(schema.pattern ?? '', pick + i),
        ]),
      );
    },

    /** Something that fits the pattern; when there is nothing yet, a name that nothing has. */
    refer: (pattern: string, pick: number): string =>
      pickFrom(things.get(pattern) ?? [], pick) ?? nameless(pattern),

    cursor: (pick: number) => pickFrom(cursors, pick),
    tag: (pick: number) => pickFrom(tags, pick),
    secret: (pick: number) => pickFrom(secrets, pick),
    hasPlace: (template: string) => (places.get(template)?.length ?? 0) > 0,

    /** The text with every id replaced by the order in which it was first seen here. */
    label: (text: string) =>
      text.replace(/[a-z]{3}_[0-9a-v]{26}/gi, (id) => {
        const label = labels.get(id.toLowerCase()) ?? `${id.slice(0, 3)}#${labels.size}`;
        labels.set(id.toLowerCase(), label);
        return label;
      }),
  };
}

const pickFrom = <T>(list: T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

function keep<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > maxOfAKind) list.shift();
}

function drop<T>(list: T[], isGone: (item: T) => boolean): void {
  list.splice(0, list.length, ...list.filter((item) => !isGone(item)));
}

const nameless = (pattern: string) => `${/^\^([a-z]{3})_/.exec(pattern)?.[1] ?? 'xxx'}_${'0'.repeat(26)}`;
