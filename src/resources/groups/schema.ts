import { type Static, Type } from 'typebox';
import {
  Id,
  Line,
  limits,
  OneOf,
  OrNull,
  optional,
  PersonRef,
  patchable,
  Reason,
  Strict,
  stamps,
  Text,
  Time,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Folded, SortKey } from '../descriptor.ts';

const required = {
  name: Line({ description: 'Unique; case is ignored.', examples: ['Platform'] }),
};

const fields = {
  description: OrNull(Text()),
  parent_id: OrNull(Id('group', { description: 'The parent group. Groups nest at most 10 levels deep.' })),
  lead_user_id: OrNull(Id('person')),
  external_id: OrNull(Line({ description: 'Your own ID for this group. Unique.' })),
};

export const Group = Strict(
  {
    id: Id('group'),
    ...required,
    ...fields,
    member_count: Type.Integer({ description: 'Number of direct members.' }),
    web_url: WebUrl('group', '/groups/grp_01jd3k9m5vqs8h2n6r4t0c7e1b'),
    ...stamps,
  },
  { $id: 'Group' },
);
export type Group = Static<typeof Group>;

const members = {
  member_user_ids: Type.Array(Id('person'), {
    description: 'IDs of the direct members. Only with `include=members`.',
  }),
};

/** A group in a list or an export, with member ids on request. */
export const ListedGroup = Strict({ ...Group.properties, ...optional(members) }, { $id: 'ListedGroup' });

export const GroupWithMembers = Strict({ ...Group.properties, ...members });
export type GroupWithMembers = Static<typeof GroupWithMembers>;

export const GroupInput = Writable(
  Group,
  { ...required, ...optional(fields) },
  { $id: 'GroupInput', examples: [{ name: 'Platform', description: 'Keeps the lights on.' }] },
);
export type GroupInput = Static<typeof GroupInput>;

/** A row of an import file, which can name members. */
export const GroupRowInput = Strict({ ...GroupInput.properties, ...optional(members) });
export type GroupRowInput = Static<typeof GroupRowInput>;

export const GroupPatch = Writable(Group, patchable({ ...required, ...fields, reason: Reason() }), {
  $id: 'GroupPatch',
  examples: [{ name: 'Platform and Tools', reason: 'Two teams became one.' }],
});
export type GroupPatch = Static<typeof GroupPatch>;

export const GroupRowPatch = Strict({ ...GroupPatch.properties, ...optional(members) });
export type GroupRowPatch = Static<typeof GroupRowPatch>;

export const MembersInput = Strict(
  {
    user_ids: Type.Array(Id('person'), {
      minItems: 1,
      maxItems: limits.filter_values,
      uniqueItems: true,
      description: 'Up to 500 user IDs. Existing members are ignored.',
    }),
  },
  { $id: 'MembersInput' },
);

export const MembersAdded = Strict(
  {
    added: Type.Integer({ description: 'Number of new members.' }),
    member_count: Type.Integer({ description: 'Number of direct members after the change.' }),
  },
  { $id: 'MembersAdded' },
);

export const maxGroupDepth = 10;

export const memberFilters = {
  transitive: Type.Boolean({ description: 'Include members of subgroups.' }),
};

export const groupIncludes = {
  include: OneOf(['members'], { description: '`members` adds `member_user_ids` to each group.' }),
};

export const groupFilters = {
  q: Line({ description: 'Part of the name; case and accents are ignored.' }),
  parent_id: Id('group', { description: 'Direct subgroups of this group.' }),
  lead_user_id: PersonRef(),
  external_id: Line(),
  updated_since: Time(),
};

const Membership = Strict(
  { group_id: Id('group'), group_name: Line(), user_id: Id('person'), user_name: Line() },
  { $id: 'Membership' },
);

export const groupResource = describeResource({
  kind: 'group',
  table: 'groups',
  id: 'id',
  label: 'name',
  tag: ['groups', 'Groups of people.'],
  columns: columnsOf(Group, ['member_count', 'web_url'], { name_folded: Folded }),
  generated: { name_key: SortKey },
  references: { parent_id: 'groups', lead_user_id: 'people' },
  visible: 'all',
  events: {
    scope: 'personnel.read',
    types: {
      created: 'A group was added.',
      updated: 'A group was changed.',
      member_added: 'A person joined a group. `data` is the membership.',
      member_removed: 'A person left a group. `data` is the membership.',
      deleted: 'A group was deleted.',
    },
    data: Type.Union([Group, Membership]),
    page: ['/groups/', 'subject_id'],
  },
});
