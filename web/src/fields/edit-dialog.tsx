import type { ReactNode } from 'react';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { inForm } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import type { Editor } from './editor.ts';

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  onClose: () => void;
  children?: ReactNode;
};

/** Edits all fields of an item at once. */
export function EditDialog<Input, Item extends object>({ editor, onClose, children }: Props<Input, Item>) {
  const { name, fields, isWide = false, item, save, reload } = editor;
  return (
    <Dialog title={`Edit ${name}`} wide={isWide} onClose={onClose}>
      <Form<Input, Item>
        fields={inForm(fields)}
        initial={item}
        action="Save"
        submit={async (values, base) => {
          await save(values, base);
          toast(`Saved ${name}`);
        }}
        reload={reload}
        onClose={onClose}
      >
        {children}
      </Form>
    </Dialog>
  );
}

export const EditButton = <Input, Item extends object>({ editor }: Pick<Props<Input, Item>, 'editor'>) => (
  <DialogButton icon="edit" dialog={(onClose) => <EditDialog editor={editor} onClose={onClose} />}>
    Edit
  </DialogButton>
);
