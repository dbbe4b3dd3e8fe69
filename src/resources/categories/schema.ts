import { type Static, Type } from 'typebox';
import {
  Count,
  Id,
  Line,
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
import { describeResource, Folded } from '../descriptor.ts';

/** The most categories in the list. */
export const maxCategories = 500;

const required = {
  name: Line({
    description: 'Unique, compared without case and accents. Risks have it as their `category`.',
    examples: ['Supply'],
  }),
};

const description = OrNull(Text());

const position = Type.Integer({
  minimum: 1,
  maximum: maxCategories,
  description: 'The place in the list. The categories from there on move down.',
});

export const Category = Strict(
  {
    id: Id('category'),
    ...required,
    description,
    position,
    ...stamps,
  },
  { $id: 'Category' },
);
export type Category = Static<typeof Category>;

/** A category of the list, or one that risks have although it is not in the list. */
export const UsedCategory = Strict(
  {
    ...Category.properties,
    id: OrNull(Id('category', { description: 'Null if the category is not in the list.' })),
    position: OrNull(position),
    listed: Type.Boolean({
      description: 'Whether the category is in the list, or only a text that risks have.',
    }),
    active_risks: Type.Integer({
      minimum: 0,
      description: 'Active risks with this category, in projects that are not archived.',
    }),
    risks: Type.Integer({ minimum: 0, description: 'All risks with this category.' }),
    version: OrNull(stamps.version),
    created_at: OrNull(Time()),
    updated_at: OrNull(Time()),
  },
  { $id: 'UsedCategory' },
);

export const CategoryInput = Writable(
  Category,
  { ...required, ...optional({ description, position }) },
  { $id: 'CategoryInput', examples: [{ name: 'Supply', description: 'Suppliers, parts and transport.' }] },
);
export type CategoryInput = Static<typeof CategoryInput>;

export const CategoryPatch = Writable(
  Category,
  { ...patchable({ ...required, description, position }), ...optional({ reason: Reason() }) },
  { $id: 'CategoryPatch', examples: [{ name: 'Supply chain' }] },
);
export type CategoryPatch = Static<typeof CategoryPatch>;

export const MergeInput = Strict(
  {
    into: Id('category', { description: 'The category that the risks get.' }),
    ...optional({ reason: Reason() }),
  },
  { $id: 'CategoryMergeInput' },
);
export type MergeInput = Static<typeof MergeInput>;

export const MergeResult = Strict(
  {
    category: Category,
    changed_risks: Type.Integer({ minimum: 0, description: 'How many risks have another category now.' }),
  },
  { $id: 'CategoryMergeResult' },
);

export const categoryFilters = {
  listed: Type.Boolean({ description: 'Only categories of the list, or only those that are not in it.' }),
};

export const categoryResource = describeResource({
  kind: 'category',
  table: 'categories',
  id: 'id',
  label: 'name',
  tag: ['categories', 'The categories of risks.'],
  columns: {
    id: Id('category'),
    ...required,
    name_folded: Folded,
    description,
    position: Count,
    ...stamps,
  },
  visible: 'all',
  events: {
    scope: 'projects.read',
    types: {
      created: 'A category was added to the list.',
      updated: 'A category was changed. If it was renamed, each of its risks has an event too.',
      merged: 'A category was merged into another one, which its risks have now.',
      deleted: 'A category was removed from the list. Its risks keep it as a text.',
    },
    data: Category,
  },
});
