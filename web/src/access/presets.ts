import { meScopesValues } from '../api/openapi.ts';
import type { Scope } from '../api/session.ts';

export type PresetName = 'Viewer' | 'Editor' | 'Administrator';

const viewer: readonly Scope[] = ['personnel.read', 'projects.read', 'events.read'];

/** What people usually need, from the least to the most. */
export const presets: readonly { name: PresetName; description: string; scopes: readonly Scope[] }[] = [
  { name: 'Viewer', description: 'Sees people, projects and what happens in them', scopes: viewer },
  {
    name: 'Editor',
    description: 'Also changes projects, risks, issues and tasks, and comments on them',
    scopes: [...viewer, 'projects.manage'],
  },
  {
    name: 'Administrator',
    description: 'Also manages people, webhooks, keys and who has access',
    scopes: meScopesValues,
  },
];

/** The preset with these scopes, in any order. */
export const presetOf = (scopes: readonly string[]): PresetName | 'Custom' =>
  presets.find((preset) => effective(preset.scopes) === effective(scopes))?.name ?? 'Custom';

/** Managing includes reading. */
const effective = (scopes: readonly string[]) =>
  scopes
    .filter((scope) => !(scope.endsWith('.read') && scopes.includes(scope.replace('.read', '.manage'))))
    .toSorted()
    .join(' ');
