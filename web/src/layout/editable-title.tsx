import type { Editor } from '../fields/editor.ts';
import { InlineField } from '../fields/inline-field.tsx';
import { Heading, Title, TitleFrame, type TitleProps } from './title.tsx';

type EditableProps<Input, Item> = TitleProps & { editor: Editor<Input, Item>; name: keyof Input & string };

/** A heading that is a field of the item and can be edited in place. */
export function EditableTitle<Input, Item extends object>({
  editor,
  name,
  ...props
}: EditableProps<Input, Item>) {
  const field = editor.fields.find((one) => one.name === name);
  if (!editor.canEdit || !field) return <Title {...props} />;
  return (
    <TitleFrame
      {...props}
      heading={
        <InlineField key={editor.id} editor={editor} field={field} isHeading>
          <Heading title={props.title} />
        </InlineField>
      }
    />
  );
}
