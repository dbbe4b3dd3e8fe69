import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Project } from '../api/openapi.ts';
import { useHasScope, useIsLimited, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { dismissGuide } from './dismissed-guide.ts';
import './first-day.css';

type Step = { name: string; note: string; path: string; isDone: boolean; isOffered: boolean };

/** So many people, or risks and issues, were hardly typed one by one. */
const imported = 10;

type Props = {
  projects: readonly Project[];
  /** The page below the guide, and in its place. */
  page: ReactNode;
};

/**
 * The steps of the first day that the key in use can take. Each checks itself off by what exists. The guide goes away when
 * all are done, or when it is dismissed.
 */
export function FirstDay({ projects, page }: Props) {
  const [isDismissed, setDismissed] = useState(false);
  const { steps, isKnown } = useSteps(projects);
  // The page would move if the guide came later.
  if (!isKnown) return null;
  if (isDismissed || steps.every(({ isDone }) => isDone)) return page;
  const dismiss = () => {
    dismissGuide();
    setDismissed(true);
  };
  return (
    <>
      <section className="card first-day" aria-labelledby="first-day">
        <header>
          <h2 id="first-day">Get started</h2>
          <Button small plain icon="close" aria-label="Dismiss the guide" onPress={dismiss} />
        </header>
        <ol>
          {steps.map(({ name, note, path, isDone }) => (
            <li key={path} className={isDone ? 'done' : undefined}>
              <span className="mark">{isDone && <Icon name="check" />}</span>
              {isDone ? (
                <span>
                  {name}
                  <span className="visually-hidden">, done</span>
                </span>
              ) : (
                <Link href={path}>{name}</Link>
              )}
              <span className="quiet">{note}</span>
            </li>
          ))}
        </ol>
      </section>
      {projects.length > 0 && page}
    </>
  );
}

function useSteps(projects: readonly Project[]): { steps: readonly Step[]; isKnown: boolean } {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const isPerson = useMe().user_id !== null;
  const managesPeople = hasScope('personnel.manage');
  const managesProjects = hasScope('projects.manage');
  const invites = hasScope('keys.manage') && !isLimited;
  const hasSteps = managesPeople || managesProjects || invites;
  const { data, isError } = useQuery({
    queryKey: ['first-day'],
    enabled: hasSteps,
    queryFn: async () => {
      const counted = { limit: 1, count: true };
      const [people, risks, access] = await Promise.all([
        managesPeople ? dataOrThrow(api.GET('/v1/personnel', { params: { query: counted } })) : undefined,
        managesProjects
          ? dataOrThrow(api.GET('/v1/risks', { params: { query: { ...counted, status: ['all'] } } }))
          : undefined,
        invites ? dataOrThrow(api.GET('/v1/access')) : undefined,
      ]);
      return {
        people: people?.page.total ?? 0,
        risks: risks?.page.total ?? 0,
        access: access?.data.length ?? 0,
      };
    },
  });
  if (!data) return { steps: [], isKnown: isError || !hasSteps };
  // Whoever has signed in exists already.
  const own = isPerson ? 1 : 0;
  const steps = [
    {
      name: 'Add people',
      note: 'who own risks and work on tasks',
      path: '/personnel?new=true',
      isDone: data.people > own,
      isOffered: managesPeople,
    },
    {
      name: 'Create a project',
      note: 'that risks, issues and tasks belong to',
      path: '/projects?new=true',
      isDone: projects.length > 0,
      isOffered: managesProjects && !isLimited,
    },
    {
      name: 'Write down a risk',
      note: 'and see where it ranks',
      path: '/risks?new=true',
      isDone: data.risks > 0,
      isOffered: managesProjects,
    },
    {
      name: 'Import what you have',
      note: 'from CSV or Excel',
      path: managesPeople ? '/personnel?import=true' : '/risks?import=true',
      isDone: data.people >= imported || data.risks >= imported,
      isOffered: managesPeople || managesProjects,
    },
    {
      name: 'Invite a colleague',
      note: 'by a link, or by your identity provider',
      path: '/access?new=true',
      isDone: data.access > own,
      isOffered: invites,
    },
  ];
  return { steps: steps.filter(({ isOffered }) => isOffered), isKnown: true };
}
