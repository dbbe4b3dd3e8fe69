import { ApiError, api, dataOrThrow } from '../api/client.ts';
import type { Person } from '../api/openapi.ts';
import type { Scope } from '../api/session.ts';
import type { IconName } from '../components/icon.tsx';
import { matchesText } from '../format.ts';

export type Result = {
  /** Where several results can have the same path. */
  id?: string;
  path: string;
  /** Runs in place of opening the path. */
  act?: () => unknown;
  name: string;
  /** Of a project, a risk, an issue or a task. */
  key?: string;
  note?: string | null;
  /** Offered only for a text that it matches. */
  isOnSearch?: boolean;
  icon?: IconName;
};
export type Section = { id: string; name: string; icon: IconName; results: readonly Result[] };
type HasScope = (scope: Scope) => boolean;

type Item = { key: string; title: string; status: string };

/**
 * Finds people, groups, projects, and risks, issues and tasks in every status. Returns an error beside the results of the
 * other searches.
 */
export async function search(q: string, hasScope: HasScope): Promise<{ sections: Section[]; error?: Error }> {
  const query = { q, limit: 5, sort: 'relevance' as const };
  const best = { params: { query } };
  const all = { params: { query: { ...query, status: ['all' as const] } } };
  const readsProjects = hasScope('projects.read');
  const readsPeople = hasScope('personnel.read');
  const { results, error } = await settle([
    readsPeople
      ? dataOrThrow(api.GET('/v1/personnel', { params: { query: { ...query, search: 'all' as const } } }))
      : undefined,
    readsPeople ? dataOrThrow(api.GET('/v1/groups', best)) : undefined,
    readsProjects ? dataOrThrow(api.GET('/v1/projects', best)) : undefined,
    readsProjects ? dataOrThrow(api.GET('/v1/risks', all)) : undefined,
    readsProjects ? dataOrThrow(api.GET('/v1/issues/all', all)) : undefined,
    readsProjects ? dataOrThrow(api.GET('/v1/tasks', all)) : undefined,
  ]);
  const [people, groups, projects, risks, issues, tasks] = results;
  const items = (id: string, name: string, icon: IconName, list: { data: Item[] } | undefined): Section => ({
    id,
    name,
    icon,
    results: (list?.data ?? []).map(({ key, title }) => ({
      path: `/${id}/${key}`,
      name: title,
      key,
    })),
  });
  const sections: Section[] = [
    {
      id: 'people',
      name: 'People',
      icon: 'people',
      results: (people?.data ?? []).map((one) => ({
        path: `/personnel/${one.user_id}`,
        name: one.name,
        note: noteOn(one, q),
      })),
    },
    {
      id: 'groups',
      name: 'Groups',
      icon: 'group',
      results: (groups?.data ?? []).map(({ id, name }) => ({ path: `/groups/${id}`, name })),
    },
    {
      id: 'projects',
      name: 'Projects',
      icon: 'project',
      results: (projects?.data ?? []).map(({ key, name }) => ({ path: `/projects/${key}`, name, key })),
    },
    items('risks', 'Risks', 'risk', risks),
    items('issues', 'Issues', 'issue', issues),
    items('tasks', 'Tasks', 'task', tasks),
  ];
  return { sections, ...(error && { error }) };
}

/** The title or, of a person who was found by another field, that field. */
function noteOn({ name, email, title, department, location, skills }: Person, q: string): string | null {
  if ([name, email, title].some((text) => text && matchesText(q, text))) return title;
  return [...skills, department, location].find((text) => text && matchesText(q, text)) ?? title;
}

/** Whether a text is the key of a risk, an issue or a task, or ends like one. */
export const isItemKey = (text: string) => /-[rit]?\d+$/i.test(text);

const hasKey = ({ key }: Result, text: string) => key?.toLowerCase() === text.toLowerCase();

/** Until the results for a text arrive, Enter must not open a result for the text before, unless it matches both. */
export const keepMatching = (sections: readonly Section[], text: string): Section[] =>
  sections.map((section) => ({
    ...section,
    results: section.results.filter((result) =>
      isItemKey(text)
        ? hasKey(result, text)
        : matchesText(text, `${result.name} ${result.key ?? result.note ?? ''}`),
    ),
  }));

/**
 * What has the typed key comes first, then the items of the kind that its letter names. The pages and commands need no
 * request, so they come before everything else that was found.
 */
export function rankSections(local: readonly Section[], found: readonly Section[], text: string): Section[] {
  const letter = /-([rit])\d+$/i.exec(text)?.[1]?.toLowerCase();
  const rank = (section: Section) => {
    if (section.results.some((result) => hasKey(result, text))) return 0;
    if (letter && found.includes(section) && section.id.startsWith(letter)) return 1;
    if (local.includes(section)) return 2;
    // For the end of a key, items come before people and projects.
    return isItemKey(text) && ['risks', 'issues', 'tasks'].includes(section.id) ? 3 : 4;
  };
  return [...local, ...found]
    .filter(({ results }) => results.length > 0)
    .toSorted((one, other) => rank(one) - rank(other))
    .map((section) => ({
      ...section,
      results: section.results.toSorted((one, other) => +hasKey(other, text) - +hasKey(one, text)),
    }));
}

/** The values of the searches that succeed and the first error. Throws if the session has ended or no search succeeds. */
async function settle<Searches extends readonly unknown[]>(searches: readonly [...Searches]) {
  const settled = await Promise.allSettled(searches);
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  const ended = errors.find((error) => error instanceof ApiError && error.status === 401);
  const hasResult = settled.some((one) => one.status === 'fulfilled' && one.value !== undefined);
  if (ended || (errors[0] && !hasResult)) throw ended ?? errors[0];
  const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  return {
    results: results as { [I in keyof Searches]: Awaited<Searches[I]> | undefined },
    error: errors[0],
  };
}
