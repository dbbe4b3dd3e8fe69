import { Card } from '../components/card.tsx';
import type { Editor } from './editor.ts';
import { useInlineFacts } from './inline-field.tsx';

/** The description of an item. Without one, only someone who can add it sees the card. */
export function Description<Input extends { description?: string | null }, Item extends object>({
  editor,
}: {
  editor: Editor<Input, Item>;
}) {
  const [label, value] = useInlineFacts(editor)('description');
  if (value === '') return null;
  return (
    <Card id="description" title={label}>
      <div className="long" dir="auto">
        {value}
      </div>
    </Card>
  );
}
