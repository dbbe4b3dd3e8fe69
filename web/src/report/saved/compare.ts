import type { FullReport, ReportProject } from '../../api/openapi.ts';

type Ranked = FullReport['content']['ranking'][number];
type Moved = Ranked & { before: number | null };
type HealthChange = { project: ReportProject; before: ReportProject['health']['state'] };

export type Comparison = { added: Ranked[]; gone: Ranked[]; moved: Moved[]; health: HealthChange[] };

/** What differs between two reports. A ranking that is cut off says nothing about the risks that it leaves out. */
export function compareReports(before: FullReport, after: FullReport): Comparison {
  const then = new Map(before.content.ranking.map((risk) => [risk.id, risk]));
  const now = new Set(after.content.ranking.map(({ id }) => id));
  const states = new Map(before.content.projects.items.map(({ id, health }) => [id, health.state]));
  return {
    added: isWhole(before) ? after.content.ranking.filter(({ id }) => !then.has(id)) : [],
    gone: isWhole(after) ? before.content.ranking.filter(({ id }) => !now.has(id)) : [],
    moved: after.content.ranking.flatMap((risk) => {
      const earlier = then.get(risk.id);
      return earlier && earlier.score !== risk.score ? [{ ...risk, before: earlier.score }] : [];
    }),
    health: after.content.projects.items.flatMap((project) => {
      const state = states.get(project.id);
      return state !== undefined && state !== project.health.state ? [{ project, before: state }] : [];
    }),
  };
}

export const isWhole = ({ content: { ranking, register } }: FullReport) =>
  ranking.length === register.after.total;
