import type { HistoryEntry } from '../api/openapi.ts';
import { toDraft } from '../components/form-values.ts';
import { changedSince, toast } from '../components/toast.tsx';
import { type Editor, hasChanged, saveFields } from '../fields/editor.ts';

/** Returns what restores the value before a change; nothing if the item has it, or if it can't be set alone. */
export type RestoreOf = (change: HistoryEntry) => (() => Promise<void>) | undefined;

/** Restores former values of an item. What someone else has changed meanwhile is a conflict only in the same field. */
export function restorerOf<Input, Item extends object>(editor: Editor<Input, Item>): RestoreOf | undefined {
  if (!editor.canEdit) return undefined;
  return ({ field: name, from }) => {
    const fields = editor.fields.filter((field) => field.name === name);
    const [field] = fields;
    if (!field || (field.required && from === null)) return undefined;
    const draft = toDraft(fields, { [name]: from });
    if (!hasChanged(fields, draft, editor.item)) return undefined;
    return async () => {
      const save: typeof editor.save = (values, base) =>
        editor.save({ reason: 'Restored from the history', ...values }, base);
      const outcome = await saveFields({ ...editor, save }, fields, draft, editor.item);
      if ('latest' in outcome)
        throw new Error(`${field.label} has changed meanwhile, so it was not restored.`);
      toast(`Restored ${editor.name}: ${field.label}`, () => undo(editor, outcome));
    };
  };
}

/** Setting one field can clear another: an owner is a person or a group. */
async function undo<Input, Item extends object>(
  editor: Editor<Input, Item>,
  { base, saved }: { base: Item; saved: Item },
): Promise<void> {
  const fields = editor.fields.filter((field) => hasChanged([field], toDraft([field], base), saved));
  const outcome = await saveFields(editor, fields, toDraft(fields, base), saved);
  if ('latest' in outcome) throw new Error(changedSince);
}
