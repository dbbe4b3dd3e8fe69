import { basePath } from '../api/client.ts';
import { matchesText, startsWord } from '../format.ts';
import { type AnyView, isShared } from '../views/shared.ts';
import { type Command, createCommands, type Destination } from './navigation.ts';
import type { FilterCommand } from './palette-filters.ts';
import type { Result, Section } from './palette-search.ts';
import { signOutOrReport } from './sign-out.ts';
import { setTheme } from './theme.ts';

type IsAvailable = (command: Command) => boolean;

const importCommands: readonly Command[] = [
  { path: '/personnel?import=true', name: 'Import people', scope: 'personnel.manage' },
  { path: '/groups?import=true', name: 'Import groups', scope: 'personnel.manage' },
  {
    path: '/projects?import=true',
    name: 'Import projects',
    scope: 'projects.manage',
    isUnlimited: true,
  },
  { path: '/risks?import=true', name: 'Import risks', scope: 'projects.manage' },
  { path: '/issues?import=true', name: 'Import issues', scope: 'projects.manage' },
  { path: '/tasks?import=true', name: 'Import tasks', scope: 'projects.manage' },
];

/** The commands that create something. */
export const createSection = (text: string, isAvailable: IsAvailable): Section => ({
  id: 'create',
  name: 'Create',
  icon: 'plus',
  results: matching(text, createCommands.filter(isAvailable)),
});

type Options = {
  isAvailable: IsAvailable;
  /** Whether a person is signed in, not a key. */
  isPerson: boolean;
  destinations: readonly Destination[];
  views: readonly AnyView[];
  /** The buttons of the page behind the palette. */
  pageActions: readonly Result[];
  /** Lists with a filter. */
  filters: readonly FilterCommand[];
  openShortcuts: () => void;
};

/** The pages, commands and saved views whose name matches. They need no request. */
export function localSections(text: string, options: Options): Section[] {
  const { isAvailable, destinations, pageActions, openShortcuts } = options;
  const commands: Section['results'] = [
    ...importCommands.filter(isAvailable).map((command) => ({ ...command, icon: 'import' as const })),
    { path: 'print', name: 'Print', icon: 'print', act: printPage },
    { path: 'shortcuts', name: 'Keyboard shortcuts', icon: 'book', act: openShortcuts },
    { path: 'light', name: 'Light theme', icon: 'sun', act: () => setTheme('light') },
    { path: 'dark', name: 'Dark theme', icon: 'moon', act: () => setTheme('dark') },
    { path: 'system', name: 'System theme', icon: 'system', act: () => setTheme('system') },
    { path: 'docs', name: 'API reference', icon: 'book', act: () => location.assign(`${basePath}/docs`) },
    ...(options.isPerson ? [{ path: '/account', name: 'Your account', icon: 'person' as const }] : []),
    { path: 'sign-out', name: 'Sign out', icon: 'out', act: signOutOrReport },
  ];
  const pages = destinations.filter(isAvailable);
  const views = text === '' ? [] : options.views;
  const filters = options.filters.filter(isAvailable);
  return [
    {
      id: 'pages',
      name: 'Pages',
      icon: 'right',
      results: pages.filter(({ name }) => matchesText(text, name)),
    },
    { id: 'page', name: 'On this page', icon: 'right', results: matching(text, pageActions) },
    { id: 'filters', name: 'Filters', icon: 'filter', results: matching(text, filters) },
    createSection(text, isAvailable),
    { id: 'commands', name: 'Commands', icon: 'right', results: matching(text, commands) },
    {
      id: 'views',
      name: 'Saved views',
      icon: 'right',
      results: pages.flatMap(({ path, name, icon }) =>
        views
          .filter((view) => `/${view.list}` === path && matchesText(text, view.name))
          .map((view) => ({
            id: view.id,
            path: `${path}${view.query && `?${view.query}`}`,
            name: view.name,
            note: isShared(view) ? `${name}, shared` : name,
            icon,
          })),
      ),
    },
  ];
}

/** A command matches only from the start of a word, so that few letters of a title don't run one. */
const matching = (text: string, results: readonly Result[]) =>
  results.filter(({ name, isOnSearch }) => startsWord(text, name) && !(isOnSearch && text === ''));

/** A list first loads the rows that it has not shown yet. */
function printPage(): void {
  const button = document.querySelector<HTMLElement>('#main .print-button');
  if (button) button.click();
  else print();
}
