import { ApiError } from '../api/client.ts';
import { changedValues, type Draft, type FieldOf, toDraft } from '../components/form-values.ts';

/** How an item is edited, in the dialog and on its page: its fields, and how they are saved. */
export type Editor<Input, Item> = {
  id: string;
  /** What messages call the item. */
  name: string;
  item: Item;
  fields: readonly FieldOf<Input>[];
  canEdit: boolean;
  /** Rejects with status 412 when the item has changed since `base` was read. */
  save: (values: Input, base: Item) => Promise<Item>;
  reload: () => Promise<Item>;
};

type Outcome<Item> = { base: Item; saved: Item } | { latest: Item };

/**
 * Saves some fields of an item. A change of other fields by someone else is no conflict: the fields are then saved in the
 * latest version. Returns that version when someone else has changed the same fields.
 */
export async function saveFields<Input, Item extends object>(
  editor: Pick<Editor<Input, Item>, 'save' | 'reload'>,
  fields: readonly FieldOf<Input>[],
  draft: Draft,
  base: Item,
): Promise<Outcome<Item>> {
  try {
    return { base, saved: await editor.save(changedValues(fields, draft, base), base) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    const latest = await editor.reload();
    // The response to an earlier attempt was lost.
    if (!hasChanged(fields, draft, latest)) return { base, saved: latest };
    if (hasChanged(fields, toDraft(fields, base), latest)) return { latest };
    return saveFields(editor, fields, draft, latest);
  }
}

export const hasChanged = <Input>(fields: readonly FieldOf<Input>[], draft: Draft, base: object) =>
  Object.keys(changedValues(fields, draft, base) as object).length > 0;

/** The owner is a person or a group, so setting the one clears the other. */
export const withOneOwner = <Input extends { owner_user_id?: string | null; owner_group_id?: string | null }>(
  values: Input,
): Input => ({
  ...(values.owner_user_id && { owner_group_id: null }),
  ...(values.owner_group_id && { owner_user_id: null }),
  ...values,
});
