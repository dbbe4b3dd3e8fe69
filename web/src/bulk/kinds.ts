export type BulkKind = 'risks' | 'issues' | 'tasks';

/** What a bulk change needs to know of an item. */
export type BulkItem = { id: string; key: string; status: string };

export type Changes = Record<string, unknown>;

export const nouns: Record<BulkKind, string> = { risks: 'risk', issues: 'issue', tasks: 'task' };

/** The field that names the person responsible, and the change that sets it. */
export const people: Record<
  BulkKind,
  { label: string; hint: string; changes: (id: string | null) => Changes }
> = {
  risks: {
    label: 'Owner',
    hint: 'Leave blank to remove the owner.',
    // A risk has one owner: a person or a group.
    changes: (owner_user_id) => ({ owner_user_id, owner_group_id: null }),
  },
  issues: {
    label: 'Assignee',
    hint: 'Leave blank to unassign.',
    changes: (assignee_user_id) => ({ assignee_user_id }),
  },
  tasks: {
    label: 'Assignee',
    hint: 'Leave blank to unassign.',
    changes: (assignee_user_id) => ({ assignee_user_id }),
  },
};
