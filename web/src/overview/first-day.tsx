import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { ChangeEvent } from '../api/event-types.ts';
import { eventTypeValues, type Project } from '../api/openapi.ts';
import { useHasScope, useIsLimited, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { dismissGuide } from './dismissed-guide.ts';
import './first-day.css';

type Step = { name: string; note: string; path: string; isDone: boolean; isOffered: boolean };

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
        <p className="quiet">
          To look around first, stop the service and run <code>npm run demo</code>: an invented railway
          company, in a database of its own.
        </p>
      </section>
      {projects.length > 0 && page}
    </>
  );
}

function useSteps(projects: readonly Project[]): { steps: readonly Step[]; isKnown: boolean } {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const isPerson = useMe().user_id !== null;
  const managesProjects = hasScope('projects.manage');
  const imports = managesProjects || hasScope('personnel.manage');
  const readsEvents = hasScope('events.read');
  const invites = hasScope('keys.manage') && !isLimited;
  const hasSteps = imports || invites;
  const { data, isError } = useQuery({
    queryKey: ['first-day'],
    enabled: hasSteps,
    queryFn: async () => {
      const [access, created] = await Promise.all([
        invites ? dataOrThrow(api.GET('/v1/access')) : undefined,
        readsEvents
          ? dataOrThrow(api.GET('/v1/events', { params: { query: { types: creations, limit: 1000 } } }))
          : undefined,
      ]);
      return { access: access?.data.length ?? 0, isImported: hasImport(created?.data ?? []) };
    },
  });
  if (!data) return { steps: [], isKnown: isError || !hasSteps };
  const steps = [
    {
      name: 'Drop your spreadsheet',
      note: 'of risks, issues or people: CSV or Excel',
      path: managesProjects ? '/risks?import=true' : '/personnel?import=true',
      isDone: data.isImported,
      isOffered: imports,
    },
    {
      name: 'Add a project',
      note: 'that risks, issues and tasks belong to',
      path: '/projects?new=true',
      isDone: projects.length > 0,
      isOffered: managesProjects && !isLimited,
    },
    {
      name: 'Invite a colleague',
      note: 'by a link, or by your identity provider',
      path: '/access?new=true',
      // Whoever has signed in has access already.
      isDone: data.access > (isPerson ? 1 : 0),
      isOffered: invites,
    },
  ];
  return { steps: steps.filter(({ isOffered }) => isOffered), isKnown: true };
}

const creations = eventTypeValues.filter((type) =>
  /^(person|group|project|risk|issue|task)\.created$/.test(type),
);

/** Only an import creates several at the same time, to the millisecond. */
const hasImport = (created: readonly ChangeEvent[]) =>
  created.some(({ type, at }, i) => created[i + 1]?.type === type && created[i + 1]?.at === at);
