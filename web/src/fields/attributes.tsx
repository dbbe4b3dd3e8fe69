import { Card, Facts } from '../components/card.tsx';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { attributeLabel } from '../format.ts';
import type { Editor } from './editor.ts';
import { useToFact } from './inline-field.tsx';

type Patch = { attributes?: Record<string, string | null> };
type Item = { attributes: Record<string, string> };
type Props<Input, One> = { editor: Editor<Input, One> };

/** The custom fields of an item. Without any, only someone who can add one sees the card. */
export function Attributes<Input extends Patch, One extends Item>({ editor }: Props<Input, One>) {
  const toFact = useToFact();
  const names = Object.keys(editor.item.attributes).sort((one, other) => one.localeCompare(other));
  if (names.length === 0 && !editor.canEdit) return null;
  return (
    <Card id="attributes" title="Custom fields">
      <Facts facts={names.map((name) => toFact(editorOf(editor, name), 'value'))} />
      {editor.canEdit && (
        <div className="button-row">
          <DialogButton
            small
            icon="plus"
            dialog={(onClose) => <AddAttribute editor={editor} onClose={onClose} />}
          >
            Add custom field
          </DialogButton>
        </div>
      )}
    </Card>
  );
}

type Value = { value?: string | null };

/** Edits one custom field like any other field. A blank value removes it. */
function editorOf<Input extends Patch, One extends Item>(
  editor: Editor<Input, One>,
  name: string,
): Editor<Value, One & Value> {
  const withValue = (item: One): One & Value => ({ ...item, value: item.attributes[name] ?? null });
  return {
    ...editor,
    id: `${editor.id} ${name}`,
    item: withValue(editor.item),
    fields: [{ name: 'value', label: attributeLabel(name), kind: 'text' }],
    save: async ({ value = null }, base) =>
      withValue(await editor.save({ attributes: { [name]: value } } as Input, base)),
    reload: async () => withValue(await editor.reload()),
  };
}

type AttributeInput = { name: string; value: string };

const fields: FieldOf<AttributeInput>[] = [
  { name: 'name', label: 'Name', kind: 'line', required: true },
  { name: 'value', label: 'Value', kind: 'text', required: true },
];

function AddAttribute<Input extends Patch, One extends Item>({
  editor: live,
  onClose,
}: Props<Input, One> & { onClose: () => void }) {
  const { item: editor } = useOpened(live);
  const add = async ({ name, value }: AttributeInput) => {
    const trimmed = name.trim();
    if (Object.hasOwn(editor.item.attributes, trimmed)) {
      throw new Error('There is a custom field with this name. Choose another name.');
    }
    await editor.save({ attributes: { [trimmed]: value } } as Input, editor.item);
    toast(`Added ${attributeLabel(trimmed)}`);
  };
  return (
    <Dialog title="Add custom field" onClose={onClose}>
      <Form<AttributeInput> fields={fields} action="Add custom field" submit={add} onClose={onClose} />
    </Dialog>
  );
}
