import { ApiError } from '../api/client.ts';
import {
  deleteItem,
  type ItemList,
  type ItemOf,
  type PatchOf,
  readItem,
  usePatchItem,
} from '../api/items.ts';
import { changedValues, type Draft, type FieldOf, toDraft, withOneOwner } from '../components/form-values.ts';
import { useCanEditIn } from '../projects/queries.ts';

/** How an item is edited, in the dialog and on its page: its fields, and how they are saved. */
export type Editor<Input, Item> = {
  id: string;
  /** What messages call the item. */
  name: string;
  /** The path of its list. */
  list: string;
  item: Item;
  fields: readonly FieldOf<Input>[];
  /** Whether its dialog is wide, because it has many fields. */
  isWide?: boolean;
  canEdit: boolean;
  /** Rejects with status 412 when the item has changed since `base` was read. */
  save: (values: Input, base: Item) => Promise<Item>;
  reload: () => Promise<Item>;
  remove: () => Promise<unknown>;
};

/** How a risk, an issue or a task is edited. */
export function useItemEditor<List extends ItemList>(
  list: List,
  item: ItemOf<List>,
  fields: readonly FieldOf<PatchOf<List>>[],
): Editor<PatchOf<List>, ItemOf<List>> {
  const patch = usePatchItem(list);
  return {
    id: item.id,
    name: item.key,
    list: `/${list}`,
    item,
    fields,
    canEdit: useCanEditIn(item.project_key),
    save: (values, base) => patch(base, withOneOwner(values)),
    reload: () => readItem(list, item),
    remove: () => deleteItem(list, item),
  };
}

type Outcome<Item> = { base: Item; saved: Item } | { latest: Item };

/**
 * Saves some fields of an item. A change of other fields by someone else is no conflict: the fields are then saved in the
 * latest version. Returns that version when someone else has changed the same fields.
 */
export async function saveFields<Input, Item extends object>(
  editor: Pick<Editor<Input, Item>, 'save' | 'reload' | 'fields'>,
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
    const affected = affectedFields(editor.fields, fields);
    if (hasChanged(affected, toDraft(affected, base), latest)) return { latest };
    return saveFields(editor, fields, draft, latest);
  }
}

export const hasChanged = <Input>(fields: readonly FieldOf<Input>[], draft: Draft, base: object) =>
  Object.keys(changedValues(fields, draft, base) as object).length > 0;

/** The fields, and those that setting them clears. */
export const affectedFields = <Input>(all: readonly FieldOf<Input>[], fields: readonly FieldOf<Input>[]) =>
  fields.some(isOwner) ? all.filter((field) => isOwner(field) || fields.some(isCalled(field.name))) : fields;

const isOwner = ({ name }: { name: string }) => name === 'owner_user_id' || name === 'owner_group_id';

const isCalled = (wanted: string) => (field: { name: string }) => field.name === wanted;
