import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The requests of the sweep: each sort, each filter and each summary that `openapi.json` offers. */

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  items?: Schema;
  format?: string;
  default?: unknown;
  anyOf?: Schema[];
};
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Operation = { parameters?: (Parameter | { $ref: string })[] };

const { paths, components } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'),
) as {
  paths: Record<string, { get?: Operation }>;
  components: { parameters: Record<string, Parameter> };
};

const queryParameters = ({ parameters = [] }: Operation) =>
  parameters
    .map((one) => ('$ref' in one ? components.parameters[one.$ref.split('/').at(-1) ?? ''] : one))
    .filter((parameter) => parameter?.in === 'query') as Parameter[];

/** Rows of the dataset that requests name: see `dataset.ts`. */
const row = (prefix: string, number: number) => `${prefix}_000000000000000000${10_000_000 + number}`;
const named: Record<string, string> = {
  project_id: 'P100007',
  user_id: row('usr', 7),
  'groups.id': row('grp', 7),
};

/** The values of filters that have no list of values. Several values are several requests. */
const values: Record<string, string[]> = {
  project: ['P100007'],
  owner_user_id: [row('usr', 32)],
  assignee_user_id: [row('usr', 38)],
  manager_user_id: [row('usr', 7)],
  lead_user_id: [row('usr', 18)],
  user_ids: [row('usr', 7)],
  owner_group_id: [row('grp', 27)],
  group_id: [row('grp', 7)],
  parent_id: [row('grp', 7)],
  risk_id: [row('rsk', 7)],
  issue_id: [row('iss', 7)],
  email: ['person7@example.com'],
  department: ['Department 7'],
  location: ['London'],
  skill: ['planning'],
  category: ['Supply 3', 'Unknown'],
  external_id: ['EXT-11', 'EXT-0'],
  // In no row, in one, in all of them; of two characters.
  q: ['quicksilver', '12345', 'part', 'pa'],
  min_score: ['20'],
  max_score: ['4'],
  min_age_days: ['60'],
  probability: ['5'],
  impact: ['5'],
  as_of: ['2026-10-14'],
  since: [],
  top: ['200'],
  due_before: ['2026-10-12'],
  due_after: ['2027-09-26'],
  review_before: ['2026-10-12'],
  review_after: ['2027-09-07'],
  raised_since: ['2026-09-16'],
  updated_since: ['2026-10-19T09:00:00Z'],
  resolved_since: ['2026-10-19T09:00:00Z'],
  from: ['2026-10-10'],
  to: ['2026-10-15'],
};

/** What a parameter needs beside it, if the list offers it. `since` is only requested with `include`. */
const companions: Record<string, string[]> = {
  transitive: [`group_id=${row('grp', 7)}`, `owner_group_id=${row('grp', 27)}`],
  'include=movement': ['since=2026-10-14'],
  'sort=relevance': ['q=12345'],
  search: ['q=12345'],
  change: ['since=2026-10-14'],
  'sort=change': ['since=2026-10-14'],
  'sort=-change': ['since=2026-10-14'],
};

/** Each of these is a condition of its own, so each value is requested, not only the first and the last. */
const everyValue = new Set(['sort', 'check']);

const paging = new Set(['limit', 'cursor', 'format', 'bom', 'columns', 'words', 'count']);

/** The paths of all requests, those of one path together. */
export function sweep(): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (_, name) => named[name] ?? named[`${path.split('/')[2]}.${name}`] ?? '',
    );
    const parameters = get ? queryParameters(get) : [];
    if (!isSwept(path, parameters)) return [];
    const isList = parameters.some(({ name }) => name === 'limit');
    const page = isList ? ['limit=50'] : [];
    const hasRequired = parameters.some(({ required }) => required);
    const queries = hasRequired ? [] : [[], ...(isList && path !== '/v1/me/work' ? [['count=true']] : [])];
    for (const { name, schema } of parameters.filter(({ name }) => !paging.has(name))) {
      for (const value of valuesOf(name, schema))
        queries.push([`${name}=${encodeURIComponent(value)}`, ...companionsOf(name, value, parameters)]);
    }
    return queries.map((query) => [filled, [...query, ...page].join('&')].filter(Boolean).join('?'));
  });
}

/** Lists and summaries of people, groups, projects and their items. The rest is small, or needs another scope. */
const isSwept = (path: string, parameters: readonly Parameter[]) =>
  /^\/v1\/(personnel|groups|projects|risks|issues|tasks)\b/.test(path) &&
  !/\{(id|comment_id|handover_id)\}|\/(history|stream|access|comments)$/.test(
    path.replace('/groups/{id}/members', ''),
  ) &&
  parameters.length > 0;

function valuesOf(name: string, schema: Schema): string[] {
  // The model of the dataset has no level `very_low`.
  const options = (schema.items ?? schema).enum?.map(String).filter((option) => option !== 'very_low');
  if (options) {
    if (everyValue.has(name)) return options.filter((option) => option !== schema.default);
    return [...new Set([options[0], options.at(-1)])].filter((option) => option !== undefined);
  }
  if (schema.type === 'boolean') return ['true', 'false'];
  const found = values[name];
  if (!found) throw new Error(`requests.ts has no value for the filter ${name}.`);
  return found;
}

const companionsOf = (name: string, value: string, parameters: readonly Parameter[]) =>
  (companions[name] ?? companions[`${name}=${value}`] ?? []).filter((companion) =>
    parameters.some((parameter) => companion.startsWith(`${parameter.name}=`)),
  );

/** Whether a request counts the rows that match a filter, which no kept count has. */
export const isFilteredSummary = (request: string) => /\/(summary|heatmap|trend)\?/.test(request);
