import { endSessionOn401 } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { type Draft, toDraft } from '../components/form-values.ts';
import { changedSince, toast } from '../components/toast.tsx';
import { useConflict } from '../components/use-conflict.ts';
import { type Editor, hasChanged, saveFields } from './editor.ts';

type Versioned = { version?: number };

/** The last change of each item that is under way, and the item that it results in. */
const pending = new Map<string, Promise<object | undefined>>();

/** Saves some fields of an item at once, with Undo. One change of an item waits for the other. Reports errors in a message. */
export function useSave<Input, Item extends object>(editor: Editor<Input, Item>) {
  const explain = useConflict();
  const save = async (draft: Draft, base: Item): Promise<Item> => {
    const fields = editor.fields.filter(({ name }) => name in draft);
    if (!hasChanged(fields, draft, base)) {
      toast(`No change to ${editor.name}`);
      return base;
    }
    try {
      const outcome = await saveFields(editor, fields, draft, base);
      if ('saved' in outcome) {
        reportSaved(editor, outcome, fields.map(({ label }) => label).join(', '));
        return outcome.saved;
      }
      toast(`Someone else changed ${editor.name}. Check it, then try again.`);
      return outcome.latest;
    } catch (error) {
      endSessionOn401(error);
      toast(errorLine(await explain(error)));
      return base;
    }
  };
  return (draft: Draft) => {
    const before = pending.get(editor.id) ?? Promise.resolve(undefined);
    const next = before.then((saved) => save(draft, newest(saved as Item | undefined, editor.item)));
    pending.set(editor.id, next);
    void next.then(() => pending.get(editor.id) === next && pending.delete(editor.id));
  };
}

const newest = <Item extends Versioned>(saved: Item | undefined, shown: Item): Item =>
  saved && (saved.version ?? 0) > (shown.version ?? 0) ? saved : shown;

type Saved<Item> = { base: Item; saved: Item };

/** Says what was saved, with Undo. */
export function reportSaved<Input, Item extends object>(
  editor: Editor<Input, Item>,
  outcome: Saved<Item>,
  otherwise: string,
): void {
  const labels = changedFields(editor, outcome).map(({ label }) => label);
  toast(`Saved ${editor.name}: ${labels.join(', ') || otherwise}`, () => undo(editor, outcome));
}

/** Setting one field can clear another: an owner is a person or a group. */
const changedFields = <Input, Item extends object>(
  { fields }: Editor<Input, Item>,
  { base, saved }: Saved<Item>,
) => fields.filter((field) => hasChanged([field], toDraft([field], base), saved));

/** Restores what a save has changed, unless someone has changed it since. */
async function undo<Input, Item extends object>(
  editor: Editor<Input, Item>,
  { base, saved }: Saved<Item>,
): Promise<void> {
  const before = toDraft(editor.fields, base);
  const outcome = await saveFields(editor, changedFields(editor, { base, saved }), before, saved);
  if ('latest' in outcome) throw new Error(changedSince);
}
