import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { paths, RankedRisk, ReportContent } from '../api/openapi.ts';
import { endOf, formatDay, isDay, today } from '../format.ts';
import { usePeriod } from '../period/period.ts';
import { isActiveRisk } from '../risks/model.ts';

/** What the report is about: some projects, or all, the day that everything is compared with, and the day it shows. */
export type Period = {
  project: string[] | undefined;
  since: string;
  /** Without it, today. */
  asOf: string | undefined;
};

type RiskQuery = NonNullable<paths['/v1/risks']['get']['parameters']['query']>;

/** The largest page of the API. The report says when there are more rows. */
export const maxRows = 1000;

/** For days from the URL, which can be any text. A report of an earlier day is compared with a day before it. */
export function useDays(since = '', asOf = ''): Pick<Period, 'since' | 'asOf'> {
  const last = isDay(asOf) && asOf < today() ? asOf : today();
  const chosen = usePeriod(last);
  return {
    since: isDay(since) && since <= last ? since : chosen.since,
    asOf: last === today() ? undefined : last,
  };
}

export const dayName = ({ asOf }: Period) => (asOf ? formatDay(asOf) : 'Today');

/** A list in the console with the projects of the report. */
export const listHref = (
  list: '/risks' | '/issues' | '/tasks',
  { project }: Pick<Period, 'project'>,
  filters: Record<string, string> = {},
) => `${list}?${new URLSearchParams({ ...filters, ...(project && { project: project.join() }) })}`;

const inProjects = ({ project }: Pick<Period, 'project'>) => (project ? { project } : {});

/** Today's report, with one request: each of its parts and projects would be read again after every change. */
export const useReportContent = (period: Period) =>
  useQuery({
    queryKey: ['report', 'content', period],
    enabled: !period.asOf,
    queryFn: async () => {
      const query = { ...inProjects(period), since: period.since };
      return (await dataOrThrow(api.GET('/v1/reports/preview', { params: { query } }))).data;
    },
  });

/** The numbers of the report are those of threats. Opportunities have a part of their own. */
const threats: Pick<RiskQuery, 'kind'> = { kind: ['threat'] };

/** Reads the register of both days. */
function useBothDays<T>(name: string, period: Period, read: (query: RiskQuery) => Promise<T>) {
  const { since, asOf } = period;
  return useQuery({
    queryKey: ['report', name, period],
    queryFn: async () => {
      const [before, after] = await Promise.all([
        read({ ...inProjects(period), ...threats, as_of: since }),
        read({ ...inProjects(period), ...threats, ...(asOf && { as_of: asOf }) }),
      ]);
      return { before, after };
    },
  });
}

export type Registers = ReportContent['register'];

export const useRegisters = (period: Period) =>
  useBothDays('registers', period, async (query) => {
    const [summary, cells] = await Promise.all([
      dataOrThrow(api.GET('/v1/risks/summary', { params: { query } })),
      dataOrThrow(api.GET('/v1/risks/heatmap', { params: { query } })),
    ]);
    return { ...summary.data, cells: cells.data };
  });

export const useTopRisksOfBoth = (period: Period, limit: number) =>
  useBothDays(
    `top ${limit}`,
    period,
    async (query) =>
      (await dataOrThrow(api.GET('/v1/risks', { params: { query: { ...query, limit } } }))).data,
  );

export type RiskChanges = Omit<ReportContent['changes'], 'raised_issues' | 'resolved_issues'>;

/** What has happened to risks between two earlier days. */
export const useRiskChanges = (period: Period) =>
  useQuery({
    queryKey: ['report', 'changes', period],
    queryFn: () => readChanges(period),
  });

/**
 * How much the register has changed beyond the listed risks: deleted ones are gone from every list, and those of a project
 * that was archived or unarchived leave or enter the register without a change of their own.
 */
export const unlistedChange = (
  { before, after }: Registers,
  { added, reopened, occurred, closed }: RiskChanges,
): number => after.total - before.total - (added.total + reopened.total - occurred.total - closed.total);

const changeOf = ({ score, movement }: RankedRisk) =>
  score !== null && typeof movement?.score_then === 'number' ? score - movement.score_then : 0;

const byScore = (a: RankedRisk, b: RankedRisk) => (b.score ?? 0) - (a.score ?? 0);

const byChange = (a: RankedRisk, b: RankedRisk) =>
  Math.abs(changeOf(b)) - Math.abs(changeOf(a)) || byScore(a, b);

/** A risk is absent from the register while its project is archived. */
type StateBefore = 'new' | 'active' | 'ended' | 'absent';

/** A risk that was created and has ended in the period is in two lists, so that they add up to the change of the register. */
function classifyChanges(
  risks: readonly RankedRisk[],
  stateBefore: (risk: RankedRisk) => StateBefore,
): RiskChanges {
  const rows = risks.map((risk) => ({ risk, before: stateBefore(risk) }));
  const select = (matches: (risk: RankedRisk, before: StateBefore) => boolean) =>
    rows.filter(({ risk, before }) => matches(risk, before)).map(({ risk }) => risk);
  const listOf = (items: RankedRisk[]) => ({ total: items.length, items });
  const stayedActive = (risk: RankedRisk, before: StateBefore) => isActiveRisk(risk) && before === 'active';
  const endedAs = (end: RankedRisk['status']) =>
    select(({ status }, before) => status === end && (before === 'new' || before === 'active'));
  return {
    added: listOf(select((_, before) => before === 'new').sort(byScore)),
    reopened: listOf(select((risk, before) => isActiveRisk(risk) && before === 'ended').sort(byScore)),
    up: listOf(select((risk, before) => stayedActive(risk, before) && changeOf(risk) > 0).sort(byChange)),
    down: listOf(select((risk, before) => stayedActive(risk, before) && changeOf(risk) < 0).sort(byChange)),
    occurred: listOf(endedAs('materialized')),
    closed: listOf(endedAs('closed')),
  };
}

/**
 * A risk has an earlier rank only if it was active then as it is now, or had ended then as it has now. One without an earlier
 * rank was absent if no risk of its project was in the register then.
 */
async function readChanges(period: Period): Promise<RiskChanges & { isComplete: boolean }> {
  const { since, asOf } = period;
  const start = endOf(since);
  const read = async (status: RiskQuery['status']) => {
    const { data, page } = await dataOrThrow(
      api.GET('/v1/risks', {
        params: {
          query: {
            ...inProjects(period),
            ...threats,
            ...(asOf && { as_of: asOf }),
            status,
            include: 'movement',
            since,
            // Not `updated_since`, which no risk of the earlier day matches, so that none would have a rank then.
            sort: '-updated_at',
            limit: maxRows,
          },
        },
      }),
    );
    const changed = data.filter(({ updated_at }) => updated_at >= start);
    return { changed, isComplete: changed.length < data.length || !page.has_more };
  };
  const earlier = { ...inProjects(period), as_of: since, status: ['all' as const] };
  const [active, ended] = await Promise.all([read(['active']), read(['materialized', 'closed'])]);
  const changed = [...active.changed, ...ended.changed];
  const earlierProjects = await projectsOf(earlier, new Set(changed.map(({ project_id }) => project_id)));
  return {
    ...classifyChanges(changed, (risk) => {
      if (risk.created_at >= start) return 'new';
      if (!earlierProjects.has(risk.project_id)) return 'absent';
      const hadRank = typeof risk.movement?.rank_then === 'number';
      return isActiveRisk(risk) === hadRank ? 'active' : 'ended';
    }),
    isComplete: active.isComplete && ended.isComplete,
  };
}

/**
 * Which of these projects have a risk in a register. A summary contains only the largest projects, so it is asked for the
 * others by name.
 */
async function projectsOf(register: RiskQuery, ids: ReadonlySet<string>): Promise<Set<string>> {
  const read = async (project?: string[]) => {
    const query = { ...register, ...(project && { project }), top: 200 };
    const { by_project, by_project_rest } = (
      await dataOrThrow(api.GET('/v1/risks/summary', { params: { query } }))
    ).data;
    for (const { project_id } of by_project) found.add(project_id);
    return by_project_rest.groups === 0;
  };
  const found = new Set<string>();
  if (await read()) return found;
  const [known = ''] = found;
  const readNamed = async (named: string[]): Promise<void> => {
    // With one that is in the register, because the service rejects a filter that names only archived projects.
    if (named.length === 0 || (await read([known, ...named])) || named.length === 1) return;
    const half = Math.ceil(named.length / 2);
    await readNamed(named.slice(0, half));
    await readNamed(named.slice(half));
  };
  const others = [...ids].filter((id) => !found.has(id));
  for (let start = 0; start < others.length; start += 100) await readNamed(others.slice(start, start + 100));
  return found;
}
