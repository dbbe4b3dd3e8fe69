import { Type } from 'typebox';
import { idPattern } from '../../core/ids.ts';
import {
  Count,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  PersonRef,
  parameterScope,
  Strict,
  Time,
} from '../../core/schemas.ts';
import { withArticle } from '../../core/text.ts';

/** A risk, issue or task in a path. */
export const ItemRef = (kind: 'risk' | 'issue' | 'task', key: string) =>
  Type.String({
    pattern: `${idPattern(kind)}|^[A-Za-z0-9]{2,10}-[${key[0]}${key[0]?.toLowerCase()}][1-9][0-9]{0,9}$`,
    description: `The id of ${withArticle(kind)}, or its key in any case.`,
    examples: [`APOLLO-${key}`],
  });

/** The first fields of an item. */
export const identity = (kind: 'risk' | 'issue' | 'task', key: string) => ({
  id: Id(kind),
  key: Type.String({ description: 'Human-readable key.', examples: [`APOLLO-${key}`] }),
  project_id: Id('project'),
  project_key: Type.String({ examples: ['APOLLO'] }),
  project_name: Line(),
});

export const owner = {
  owner_user_id: OrNull(Id('person')),
  owner_group_id: OrNull(Id('group', { description: 'Set this or `owner_user_id`, not both.' })),
};

export const ownerState = {
  owner_name: OrNull(Line()),
  owner_active: OrNull(
    Type.Boolean({ description: 'Whether the owner is an active person; null if no person owns it.' }),
  ),
};

/** The fields that are no columns. */
export const computedFields = {
  item: ['project_key', 'project_name', 'web_url'],
  owner: ['owner_name', 'owner_active'],
  assignee: ['assignee_name', 'assignee_active'],
} as const;

export const ownerFilters = (items: 'risks' | 'issues') => ({
  owner_user_id: ManyOf(PersonRef()),
  owner_group_id: ManyOf(Id('group')),
  transitive: Type.Boolean({
    description:
      `With \`owner_group_id\`: includes ${items} owned by its subgroups, and by members of any of these groups. ` +
      'Needs `personnel.read`.',
    [parameterScope]: 'personnel.read',
  }),
});

/** The last filters of all lists of items. */
export const commonFilters = {
  updated_since: Time(),
  external_id: Line(),
  q: Line({ description: 'Text in the key or title; case and accents are ignored.' }),
  search: OneOf(['titles', 'all'], {
    description:
      'What `q` searches: keys and `titles` (default), or `all`, with descriptions, which takes longer.',
  }),
};

/** The parameter of summaries that bounds their arrays. */
export const summaryParameters = {
  top: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 20,
    description:
      'How many groups an array contains at most, the largest first. With long names it may contain fewer, because a ' +
      'summary is at most 64 kB long.',
  }),
};

/** What an array of a summary leaves out. */
export const Rest = Strict(
  { groups: Count, count: Count },
  { description: 'The number of the other groups, and the sum of their counts.' },
);
