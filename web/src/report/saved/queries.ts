import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../../api/client.ts';
import type { FullReport, Report } from '../../api/openapi.ts';

export const sectionNames: Record<Report['sections'][number], string> = {
  top_risks: 'Top risks',
  opportunities: 'Top opportunities',
  decisions: 'Decisions needed',
  dates: 'Due dates',
  register: 'Risk register',
  changes: 'Changes',
  overdue_issues: 'Overdue issues',
  projects: 'Projects',
  project_pages: 'A page for each project',
};

export const lengthNames: Record<Report['length'], string> = {
  one_page: 'One page',
  five_pages: 'Up to five pages',
  full: 'Full',
};

/** What fits on one page, and on five. */
export const sectionsOf: Record<Report['length'], Report['sections']> = {
  one_page: ['top_risks', 'projects'],
  five_pages: ['top_risks', 'decisions', 'register', 'changes', 'projects'],
  full: Object.keys(sectionNames) as Report['sections'],
};

/** The saved reports, newest first. */
export const useReports = () =>
  useQuery({
    queryKey: ['reports'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/reports'))).data,
  });

export const useReport = (id: string | undefined) =>
  useQuery({
    queryKey: ['reports', id],
    // It never changes.
    staleTime: Number.POSITIVE_INFINITY,
    enabled: id !== undefined,
    queryFn: (): Promise<FullReport> =>
      dataOrThrow(api.GET('/v1/reports/{id}', { params: { path: { id: id ?? '' } } })),
  });
