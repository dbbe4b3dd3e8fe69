import { useLastPerson } from '../components/last-person.ts';
import type { Editor } from '../fields/editor.ts';
import { useSave } from '../fields/save.ts';
import { usePreviewKey } from './use-preview-key.ts';

type Field = 'owner_user_id' | 'assignee_user_id';

/** An editor that offers the person who was chosen last first. */
export const withLastPerson = <Input, Item>(
  editor: Editor<Input, Item>,
  name: Field & keyof Input,
): Editor<Input, Item> => ({
  ...editor,
  fields: editor.fields.map((field) => (field.name === name ? { ...field, offersLast: true } : field)),
});

/** `o` assigns an item to the person who was chosen last. */
export function useAssignLast<Input, Item extends object>(
  editor: Editor<Input, Item>,
  name: Field & keyof Input,
): void {
  const last = useLastPerson();
  const save = useSave(editor);
  usePreviewKey('o', () => {
    if (!last || !editor.canEdit) return false;
    save({ [name]: last.id });
    return true;
  });
}
