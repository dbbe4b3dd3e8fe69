import type { DateOrder } from '../../../src/import/languages/dates.ts';
import { api, dataOrThrow } from '../api/client.ts';
import {
  issuePriorityValues,
  issueSeverityValues,
  issueStatusValues,
  type Person,
  riskStatusValues,
  riskStrategyValues,
  taskStatusValues,
} from '../api/openapi.ts';
import { maxLimit } from '../api/pages.ts';
import { enumOptions, formatDay } from '../format.ts';
import { dayIn, orderIn } from './days.ts';

/** What a pasted text means for a field: the change of the item and its words, or why it means nothing. */
export type Parsed = { changes: Record<string, unknown>; shown: string } | { error: string };

type Parse = (text: string) => Parsed;

const options: Record<string, readonly (readonly [value: string, label: string])[]> = {
  severity: enumOptions(issueSeverityValues),
  priority: enumOptions(issuePriorityValues),
  strategy: enumOptions(riskStrategyValues),
  status: enumOptions([...new Set<string>([...riskStatusValues, ...issueStatusValues, ...taskStatusValues])]),
};

/** Understands the lines of a pasted column. People are looked up. */
export async function parseColumn(field: string, texts: readonly string[]): Promise<Parsed[]> {
  const parse = await parserOf(field, texts);
  return texts.map((text) => parse(text.trim()));
}

async function parserOf(field: string, texts: readonly string[]): Promise<Parse> {
  if (field === 'rating') return parseRating;
  if (field.endsWith('_on')) {
    const order = orderIn(texts);
    return (text) => parseDay(field, text, order);
  }
  if (field.endsWith('_user_id')) return parsePeople(field, texts);
  const known = options[field];
  if (known) return (text) => parseOption(field, text, known);
  return (text) => ({ changes: { [field]: text || null }, shown: text });
}

/** `4 5`, `4x5` or two columns. */
function parseRating(text: string): Parsed {
  const [, probability, impact] = /^(\d)(?:\s*[x×*/,;]\s*|\s+)(\d)$/.exec(text) ?? [];
  if (!probability || !impact) return { error: 'Write the probability and the impact, such as 4 x 5.' };
  return {
    changes: { probability: Number(probability), impact: Number(impact) },
    shown: `${probability} × ${impact}`,
  };
}

function parseOption(field: string, text: string, known: (typeof options)[string]): Parsed {
  if (text === '' && field === 'strategy') return { changes: { [field]: null }, shown: '' };
  const wanted = text.toLowerCase().replaceAll(' ', '_');
  const option = known.find(
    ([value, label]) => value === wanted || label.toLowerCase() === text.toLowerCase(),
  );
  return option
    ? { changes: { [field]: option[0] }, shown: option[1] }
    : { error: `“${text}” is not one of the choices.` };
}

function parseDay(field: string, text: string, order: DateOrder | undefined): Parsed {
  if (text === '') return { changes: { [field]: null }, shown: '' };
  const day = dayIn(text, order);
  return day === undefined
    ? { error: `Write “${text}” as year-month-day.` }
    : { changes: { [field]: day }, shown: formatDay(day) };
}

async function parsePeople(field: string, texts: readonly string[]): Promise<Parse> {
  const find = await findPeople([...new Set(texts.map((text) => text.trim()).filter(Boolean))]);
  return (text) => {
    if (text === '') return { changes: withOwner(field, null), shown: '' };
    const person = find(text);
    return person
      ? { changes: withOwner(field, person.user_id), shown: person.name }
      : { error: `Nobody who can be assigned is called “${text}”.` };
  };
}

/** The owner is a person or a group. */
const withOwner = (field: string, user_id: string | null) => ({
  [field]: user_id,
  ...(field === 'owner_user_id' && { owner_group_id: null }),
});

/** For more names, everybody is read, a thousand people at a time. */
const maxSearches = 3;

/** Finds people by name, email address, external ID or user ID. */
async function findPeople(names: readonly string[]) {
  const found =
    names.length > maxSearches
      ? await readAssignable()
      : (await Promise.all(names.map(readAssignable))).flat();
  const people = [...new Map(found.map((person) => [person.user_id, person])).values()];
  return (text: string) => {
    const wanted = text.toLowerCase();
    const matches = people.filter(({ name, email, external_id, user_id }) =>
      [name, email, external_id, user_id].some((one) => one?.toLowerCase() === wanted),
    );
    // Two people with one name are nobody.
    return matches.length === 1 ? matches[0] : undefined;
  };
}

async function readAssignable(q?: string): Promise<Person[]> {
  const people: Person[] = [];
  let cursor: string | null | undefined;
  do {
    const query = {
      assignable: true,
      ...(q === undefined ? { limit: maxLimit } : { q, limit: 20, sort: 'relevance' as const }),
      ...(cursor && { cursor }),
    };
    const { data, page } = await dataOrThrow(api.GET('/v1/personnel', { params: { query } }));
    people.push(...data);
    cursor = q === undefined ? page.next_cursor : null;
  } while (cursor);
  return people;
}
