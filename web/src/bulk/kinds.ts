import type { ItemList } from '../api/items.ts';

/** What a bulk change needs to know of an item. */
export type BulkItem = { id: string; key: string; status: string; version: number };

export type Changes = Record<string, unknown>;

export const nouns: Record<ItemList, string> = { risks: 'risk', issues: 'issue', tasks: 'task' };

type Responsible = {
  label: string;
  hint?: string;
  /** The label of the field for a group, where a group can be responsible in place of a person. */
  group?: string;
  changes: (person: string | null, group: string | null) => Changes;
  /** Without a choice. */
  missing: string;
  /** The words for a change that leaves nobody responsible, before and after it. */
  remove: readonly [action: string, done: string];
};

const assignee: Responsible = {
  label: 'Assignee',
  changes: (assignee_user_id) => ({ assignee_user_id }),
  missing: 'Choose an assignee.',
  remove: ['Unassign', 'Unassigned'],
};

/** The fields that name who is responsible, and the change that sets them. */
export const responsible: Record<ItemList, Responsible> = {
  risks: {
    label: 'Owner',
    hint: 'A person or a group.',
    group: 'Owning group',
    changes: (owner_user_id, owner_group_id) => ({ owner_user_id, owner_group_id }),
    missing: 'Choose an owner or an owning group.',
    remove: ['Clear owner', 'Cleared the owner of'],
  },
  issues: assignee,
  tasks: assignee,
};
