import type { ReactNode } from 'react';
import type { Project } from '../api/openapi.ts';
import { lazy } from '../components/lazy.tsx';
import { isGuideDismissed } from './dismissed-guide.ts';

/** Its code loads after the page's, which does not wait for it. */
const FirstDay = lazy(() => import('./first-day.tsx'), 'FirstDay');

/** With so many risks and issues, an organization has moved in. */
const maxItemsOfNewcomers = 10;

const needsGuide = (projects: readonly Project[]) =>
  projects.reduce((sum, { counts }) => sum + counts.active_risks + counts.open_issues, 0) <
    maxItemsOfNewcomers && !isGuideDismissed();

/** A page, and above it the guide through the first day while there is little in the register. */
export const WithGuide = ({ projects, page }: { projects: readonly Project[]; page: ReactNode }) =>
  needsGuide(projects) ? <FirstDay projects={projects} page={page} /> : page;
