import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, patchable, Strict, stamps, Writable } from '../../core/schemas.ts';
import type { Scope } from '../../core/scopes.ts';
import { describeResource } from '../descriptor.ts';

/** The lists that have views, and the scopes to read and to change those. */
export const viewScopes = {
  risks: { read: 'projects.read', manage: 'projects.manage' },
  issues: { read: 'projects.read', manage: 'projects.manage' },
  tasks: { read: 'projects.read', manage: 'projects.manage' },
  projects: { read: 'projects.read', manage: 'projects.manage' },
  personnel: { read: 'personnel.read', manage: 'personnel.manage' },
} as const satisfies Record<string, { read: Scope; manage: Scope }>;

export type ViewedList = keyof typeof viewScopes;
export const viewedLists = Object.keys(viewScopes) as ViewedList[];

/** The most views of one list. */
export const maxViews = 200;

const list = OneOf(viewedLists, { description: 'The list that this is a view of.' });

const fields = {
  name: Line({ description: 'Unique among the views of the list.', examples: ['Overdue, by date'] }),
  query: Type.String({
    maxLength: 2000,
    pattern: '^[^\\s?#]*$',
    description:
      'The filters, the sort order and the columns, as in the address of the list in the console after `?`.',
    examples: ['overdue=true&sort=due_on'],
  }),
};

export const View = Strict({ id: Id('view'), list, ...fields, ...stamps }, { $id: 'View' });
export type View = Static<typeof View>;

export const ViewInput = Writable(
  View,
  { list, ...fields },
  {
    $id: 'ViewInput',
    examples: [{ list: 'issues', name: 'Overdue, by date', query: 'overdue=true&sort=due_on' }],
  },
);
export type ViewInput = Static<typeof ViewInput>;

export const ViewPatch = Writable(View, patchable(fields), {
  $id: 'ViewPatch',
  examples: [{ name: 'Past due' }],
});
export type ViewPatch = Static<typeof ViewPatch>;

export const viewFilters = { list };

export const viewResource = describeResource({
  kind: 'view',
  table: 'views',
  id: 'id',
  label: 'name',
  tag: ['views', 'Views of lists in the console that everyone shares.'],
  columns: View.properties,
  // A view may name any project.
  visible: 'none',
});
