import { type Static, Type } from 'typebox';
import { Id, Line, OrNull, optional, Strict, stamps, Text, Time, Writable } from '../schemas.ts';

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

export const GroupInput = Writable(
  Group,
  { ...required, ...optional(fields) },
  { $id: 'GroupInput', examples: [{ name: 'Platform', description: 'Keeps the lights on.' }] },
);
export type GroupInput = Static<typeof GroupInput>;

export const groupDepth = 10;

export const groupFilters = {
  q: Line({ description: 'Part of the name; case and accents do not matter.' }),
  parent_id: Id('group', { description: 'The groups directly below this one.' }),
  lead_user_id: Id('person'),
  external_id: Line(),
  updated_since: Time(),
};
