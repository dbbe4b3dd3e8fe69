export type BulkKind = 'risks' | 'issues' | 'tasks';

/** What a bulk change needs to know of an item. */
export type BulkItem = { id: string; key: string; status: string };

export type Changes = Record<string, unknown>;

export const nouns: Record<BulkKind, string> = { risks: 'risk', issues: 'issue', tasks: 'task' };

type Responsible = {
  label: string;
  hint: string;
  /** The label of the field for a group, where a group can be responsible in place of a person. */
  group?: string;
  changes: (person: string | null, group: string | null) => Changes;
};

/** The fields that name who is responsible, and the change that sets them. */
export const responsible: Record<BulkKind, Responsible> = {
  risks: {
    label: 'Owner',
    hint: 'A person or a group. Leave both blank to remove the owner.',
    group: 'Owning group',
    changes: (owner_user_id, owner_group_id) => ({ owner_user_id, owner_group_id }),
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
