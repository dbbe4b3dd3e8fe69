import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, patchable, Strict, stamps, Writable } from '../../core/schemas.ts';
import type { Scope } from '../../core/scopes.ts';
import { describeResource } from '../descriptor.ts';

const projects = { read: 'projects.read', manage: 'projects.manage' } as const;
const personnel = { read: 'personnel.read', manage: 'personnel.manage' } as const;

/** What can be imported, and the scopes to read and to change its mappings. */
export const mappingScopes = {
  personnel,
  groups: personnel,
  projects,
  risks: projects,
  issues: projects,
  tasks: projects,
} as const satisfies Record<string, { read: Scope; manage: Scope }>;

export type MappedList = keyof typeof mappingScopes;
export const mappedLists = Object.keys(mappingScopes) as MappedList[];

/** The most mappings. */
export const maxMappings = 200;

const list = OneOf(mappedLists, { description: 'What the files contain.' });

const fields = {
  name: Line({
    maxLength: 100,
    description: 'The name for the parameter `mapping` of an import. Unique.',
    examples: ['jira-apollo'],
  }),
  query: Type.String({
    maxLength: 8000,
    pattern: '^[^\\s?#]*$',
    description:
      'The parameters of the import, as in its address after `?`: `map`, `map_values`, `scales`, `set`, `unknown_columns`, ' +
      '`unknown_people`, `preset`, `date_order`, `sheet` and `header_row`.',
    examples: ['preset=jira&map=Team=attributes.team&set=category:Technical'],
  }),
};

export const Mapping = Strict({ id: Id('mapping'), list, ...fields, ...stamps }, { $id: 'Mapping' });
export type Mapping = Static<typeof Mapping>;

export const MappingInput = Writable(
  Mapping,
  { list, ...fields },
  {
    $id: 'MappingInput',
    examples: [{ list: 'issues', name: 'jira-apollo', query: 'preset=jira&map=Team=attributes.team' }],
  },
);
export type MappingInput = Static<typeof MappingInput>;

export const MappingPatch = Writable(Mapping, patchable(fields), {
  $id: 'MappingPatch',
  examples: [{ name: 'jira' }],
});
export type MappingPatch = Static<typeof MappingPatch>;

export const mappingFilters = { list };

export const mappingResource = describeResource({
  kind: 'mapping',
  table: 'mappings',
  id: 'id',
  label: 'name',
  tag: ['mappings', 'Named parameters of imports, to read the next file of a tool like the last one.'],
  columns: Mapping.properties,
  // A mapping may name people and projects.
  visible: 'none',
});
