import type { ReactNode } from 'react';
import { useHasScope, useIsLimited } from '../api/session.ts';
import { ButtonLink } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { useProjects } from './queries.ts';

/** The first step in a new database. */
export function NoProjects({ children }: { children?: ReactNode }) {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  return (
    <Empty
      title="No projects yet"
      action={
        hasScope('projects.manage') &&
        !isLimited && (
          <ButtonLink primary icon="plus" href="/projects?new=true">
            Create project
          </ButtonLink>
        )
      }
    >
      {children ?? 'Create a project, then add risks, issues and tasks to it.'}
    </Empty>
  );
}

/** For an empty list of items, which cannot be created without a project. */
export function ProjectsFirst({ children }: { children: ReactNode }) {
  const { data: projects } = useProjects();
  if (projects?.length !== 0) return children;
  return (
    <NoProjects>
      Create a project, or drop a CSV or Excel file here that names the project of each row.
    </NoProjects>
  );
}
