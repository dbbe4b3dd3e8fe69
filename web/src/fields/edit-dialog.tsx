import type { ReactNode } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import { inForm } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import type { Editor } from './editor.ts';

type Props<Input, Item> = {
  editor: Editor<Input, Item>;
  wide?: boolean;
  onClose: () => void;
  children?: ReactNode;
};

/** Edits all fields of an item at once. */
export function EditDialog<Input, Item extends object>({
  editor,
  wide,
  onClose,
  children,
}: Props<Input, Item>) {
  const { name, fields, item, save, reload } = editor;
  return (
    <Dialog title={`Edit ${name}`} wide={wide ?? false} onClose={onClose}>
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
