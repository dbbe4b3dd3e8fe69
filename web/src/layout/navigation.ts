import { type Scope, useHasScope, useIsLimited, useMe } from '../api/session.ts';
import type { IconName } from '../components/icon.tsx';

export type Destination = {
  path: string;
  name: string;
  scope: Scope;
  icon: IconName;
  /** Whether it is for people and keys that are not limited to some projects. */
  isUnlimited?: true;
};

/** The pages below the start page. */
export const destinations: readonly Destination[] = [
  { path: '/risks', name: 'Risks', scope: 'projects.read', icon: 'risk' },
  { path: '/issues', name: 'Issues', scope: 'projects.read', icon: 'issue' },
  { path: '/tasks', name: 'Tasks', scope: 'projects.read', icon: 'task' },
  { path: '/projects', name: 'Projects', scope: 'projects.read', icon: 'project' },
  { path: '/report', name: 'Steering report', scope: 'projects.read', icon: 'report' },
  { path: '/personnel', name: 'People', scope: 'personnel.read', icon: 'people' },
  { path: '/groups', name: 'Groups', scope: 'personnel.read', icon: 'group' },
  { path: '/webhooks', name: 'Webhooks', scope: 'events.read', icon: 'webhook' },
  { path: '/keys', name: 'Keys', scope: 'keys.read', icon: 'key' },
  { path: '/access', name: 'Access', scope: 'keys.read', icon: 'access', isUnlimited: true },
  { path: '/settings', name: 'Settings', scope: 'projects.read', icon: 'settings', isUnlimited: true },
];

const overview = { name: 'Overview', scope: 'projects.read', icon: 'overview' } as const;

/** The start page is the work of a person who has signed in, or the overview for the key of a program. */
const destinationsOf = (user_id: string | null): readonly Destination[] =>
  user_id === null
    ? [{ path: '/', ...overview }, ...destinations]
    : [
        { path: '/', name: 'My work', scope: 'projects.read', icon: 'work' },
        { path: '/overview', ...overview },
        ...destinations,
      ];

export const useDestinations = () => destinationsOf(useMe().user_id);

export type Command = Omit<Destination, 'icon'>;

/** They open the form of a list. */
export const createCommands: readonly Command[] = [
  { path: '/risks?new=true', name: 'Create risk', scope: 'projects.manage' },
  { path: '/issues?new=true', name: 'Create issue', scope: 'projects.manage' },
  { path: '/tasks?new=true', name: 'Add task', scope: 'projects.manage' },
  { path: '/projects?new=true', name: 'Create project', scope: 'projects.manage', isUnlimited: true },
  { path: '/personnel?new=true', name: 'Add person', scope: 'personnel.manage' },
  { path: '/groups?new=true', name: 'Create group', scope: 'personnel.manage' },
  { path: '/webhooks?new=true', name: 'Create webhook', scope: 'events.manage' },
  { path: '/keys?new=true', name: 'Create key', scope: 'keys.manage' },
  { path: '/access?new=true', name: 'Give access', scope: 'keys.manage', isUnlimited: true },
];

/** Whether the key in use can run a command. */
export function useIsAvailable(): (command: Command) => boolean {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  return ({ scope, isUnlimited }) => hasScope(scope) && !(isUnlimited && isLimited);
}
