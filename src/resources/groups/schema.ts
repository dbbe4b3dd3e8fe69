import { type Static, Type } from 'typebox';
import {
  Id,
  Line,
  limits,
  OneOf,
  OrNull,
  optional,
  patchable,
  Reason,
  Strict,
  stamps,
  Text,
  Time,
  Writable,
} from '../../core/schemas.ts';

const required = {
  name: Line({ description: 'Unique, compared without case.', examples: ['Platform'] }),
};

const fields = {
  description: OrNull(Text()),
  parent_id: OrNull(Id('group', { description: 'The group this one is part of; 10 levels at most.' })),
  lead_user_id: OrNull(Id('person')),
  external_id: OrNull(Line({ description: 'Your own id for this group. Unique.' })),
};

export const Group = Strict(
  {
    id: Id('group'),
    ...required,
    ...fields,
    member_count: Type.Integer({ description: 'Direct members.' }),
    ...stamps,
  },
  { $id: 'Group' },
);
export type Group = Static<typeof Group>;

const members = {
  member_user_ids: Type.Array(Id('person'), { description: 'With `include=members`: its direct members.' }),
};

/** A group as a list or a file shows it, with its members if asked. */
export const ListedGroup = Strict({ ...Group.properties, ...optional(members) }, { $id: 'ListedGroup' });

export const GroupWithMembers = Strict({ ...Group.properties, ...members });
export type GroupWithMembers = Static<typeof GroupWithMembers>;

export const GroupInput = Writable(
  Group,
  { ...required, ...optional(fields) },
  { $id: 'GroupInput', examples: [{ name: 'Platform', description: 'Keeps the lights on.' }] },
);
export type GroupInput = Static<typeof GroupInput>;

/** A row of a file of groups, whose members come with it. */
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
      description: 'These people, 500 at most. Who is a member already stays one.',
    }),
  },
  { $id: 'MembersInput' },
);

export const MembersAdded = Strict(
  {
    added: Type.Integer({ description: 'How many were not members before.' }),
    member_count: Type.Integer({ description: 'Direct members now.' }),
  },
  { $id: 'MembersAdded' },
);

export const groupDepth = 10;

/** Filters of the members of a group. */
export const memberFilters = {
  transitive: Type.Boolean({ description: 'Members of the groups below it, too.' }),
};

export const groupIncludes = {
  include: OneOf(['members'], { description: 'Adds `member_user_ids` to each group.' }),
};

export const groupFilters = {
  q: Line({ description: 'Part of the name; case and accents do not matter.' }),
  parent_id: Id('group', { description: 'The groups directly below this one.' }),
  lead_user_id: Id('person'),
  external_id: Line(),
  updated_since: Time(),
};
