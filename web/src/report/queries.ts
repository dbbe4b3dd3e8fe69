import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { paths, RankedRisk } from '../api/openapi.ts';
import { daysFromToday, today } from '../format.ts';

/** What the report is about: some projects, or all, and the day that everything is compared with. */
export type Period = { project: string[] | undefined; since: string };

type RiskQuery = NonNullable<paths['/v1/risks']['get']['parameters']['query']>;
type IssueQuery = NonNullable<paths['/v1/issues']['get']['parameters']['query']>;
type AllIssuesQuery = NonNullable<paths['/v1/issues/all']['get']['parameters']['query']>;

/** The largest page of the API. The report says when there are more rows. */
const maxRows = 1000;

/** For a day from the URL, which can be any text. */
export const validSince = (value: string | undefined) =>
  value !== undefined && isDay(value) && value <= today() ? value : daysFromToday(-30);

export const isDay = (value: string) =>
  /^[12]\d{3}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value));

/** The start of the day after: a register of a past day is that of its end. */
const endOf = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString();

const inProjects = ({ project }: Period) => (project ? { project } : {});

export const useReportRisks = (period: Period, query: RiskQuery) =>
  useQuery({
    queryKey: ['report', 'risks', period, query],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/risks', { params: { query: { ...inProjects(period), ...query } } })),
  });

export const useReportIssues = (period: Period, query: IssueQuery) =>
  useQuery({
    queryKey: ['report', 'issues', period, query],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/issues', { params: { query: { ...inProjects(period), ...query } } })),
  });

const useAllIssues = (period: Period, query: AllIssuesQuery) =>
  useQuery({
    queryKey: ['report', 'all issues', period, query],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/issues/all', { params: { query: { ...inProjects(period), ...query } } })),
  });

/** Risks by rank, with their scores on the day of the comparison. */
export const useTopRisks = (period: Period, limit: number) =>
  useReportRisks(period, { include: 'movement', since: period.since, limit });

/** The counts of the register on the day of the comparison, and now. */
export const useComparison = (period: Period) =>
  useQuery({
    queryKey: ['report', 'comparison', period],
    queryFn: async () => {
      const read = async (query: { as_of?: string }) =>
        (
          await dataOrThrow(
            api.GET('/v1/risks/summary', { params: { query: { ...inProjects(period), ...query } } }),
          )
        ).data;
      const [then, now] = await Promise.all([read({ as_of: period.since }), read({})]);
      return { then, now };
    },
  });

export const useIssueCounts = (period: Period) =>
  useQuery({
    queryKey: ['report', 'issue counts', period],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/issues/summary', { params: { query: inProjects(period) } }))).data,
  });

export type RiskChanges = Record<'added' | 'up' | 'down' | 'occurred' | 'closed', RankedRisk[]> & {
  isComplete: boolean;
};

/** What has happened to risks since the day of the comparison. */
export function useRiskChanges(period: Period) {
  const { since } = period;
  return useQuery({
    queryKey: ['report', 'changes', period],
    queryFn: async (): Promise<RiskChanges> => {
      const read = (query: RiskQuery) =>
        dataOrThrow(
          api.GET('/v1/risks', {
            params: {
              query: { ...inProjects(period), include: 'movement', since, limit: maxRows, ...query },
            },
          }),
        );
      const [active, ended] = await Promise.all([
        read({ updated_since: endOf(since) }),
        read({ status: ['materialized', 'closed'], sort: '-updated_at' }),
      ]);
      const isAdded = ({ created_at }: RankedRisk) => created_at >= endOf(since);
      const changeOf = ({ score, movement }: RankedRisk) =>
        score !== null && typeof movement?.score_then === 'number' ? score - movement.score_then : 0;
      // A risk that had ended before has a rank among the ended ones of that day.
      const justEnded = ended.data.filter(
        ({ updated_at, movement }) => updated_at >= endOf(since) && movement?.rank_then === null,
      );
      const oldest = ended.data.at(-1);
      return {
        added: active.data.filter(isAdded),
        up: active.data.filter((risk) => !isAdded(risk) && changeOf(risk) > 0),
        down: active.data.filter((risk) => !isAdded(risk) && changeOf(risk) < 0),
        occurred: justEnded.filter(({ status }) => status === 'materialized'),
        closed: justEnded.filter(({ status }) => status === 'closed'),
        isComplete:
          !active.page.has_more && !(ended.page.has_more && oldest && oldest.updated_at >= endOf(since)),
      };
    },
  });
}

export const useRaisedIssues = (period: Period, limit: number) =>
  useAllIssues(period, { raised_since: endOf(period.since).slice(0, 10), limit, count: true });

/** The API has no time of the resolution, so this also finds issues that were edited after it. */
export const useResolvedIssues = (period: Period, limit: number) =>
  useAllIssues(period, {
    status: ['resolved', 'closed'],
    updated_since: endOf(period.since),
    sort: '-updated_at',
    limit,
    count: true,
  });
