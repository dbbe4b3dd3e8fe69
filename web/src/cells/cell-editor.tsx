import { useState } from 'react';
import type { ItemList } from '../api/items.ts';
import type { Issue, Risk, Task } from '../api/openapi.ts';
import { useMe } from '../api/session.ts';
import { offeredStatuses, statusFields, useIsAllowed } from '../bulk/statuses.ts';
import { choiceField, type FieldOf } from '../components/form-values.ts';
import type { Editor } from '../fields/editor.ts';
import { InlineEditor, type OpenField } from '../fields/inline-editor.tsx';
import { readStored, storeField, valueIn } from '../fields/stored-field.ts';
import { humanize } from '../format.ts';
import { useIssueEditor } from '../issues/issue-form.tsx';
import { Assess } from '../risks/assess.tsx';
import { useRiskEditor } from '../risks/risk-form.tsx';
import { useTaskEditor } from '../tasks/task-form.tsx';
import { cellKey } from './cell-key.ts';

type Close = (isFocusInside: boolean) => void;
type Props = { list: ItemList; item: object; field: string; onClose: Close };

/** Edits one field of a row in its cell. */
export function CellEditor({ list, item, field, onClose }: Props) {
  if (field === 'rating') return <Assess risk={item as Risk} onClose={() => onClose(false)} />;
  if (list === 'risks') return <RiskCell item={item as Risk} field={field} onClose={onClose} />;
  if (list === 'issues') return <IssueCell item={item as Issue} field={field} onClose={onClose} />;
  return <TaskCell item={item as Task} field={field} onClose={onClose} />;
}

type CellProps<Item> = { item: Item; field: string; onClose: Close };

const RiskCell = ({ item, ...cell }: CellProps<Risk>) => (
  <FieldCell editor={useWithStatus('risks', useRiskEditor(item))} {...cell} />
);

const IssueCell = ({ item, ...cell }: CellProps<Issue>) => (
  <FieldCell editor={useWithStatus('issues', useIssueEditor(item))} {...cell} />
);

const TaskCell = ({ item, ...cell }: CellProps<Task>) => <FieldCell editor={useTaskEditor(item)} {...cell} />;

type Status = { id: string; key: string; status: string; version: number };

/** An editor with a field for the statuses that need no more input. The others are in the preview. */
function useWithStatus<Input, Item extends Status>(list: ItemList, editor: Editor<Input, Item>) {
  const isAllowed = useIsAllowed(list);
  const isPerson = useMe().user_id !== null;
  const { item } = editor;
  const offered = offeredStatuses(list, [item], isAllowed).filter(
    (to) => statusFields(list, to, [item], isPerson).length === 0 && to !== 'blocked',
  );
  const options = [item.status, ...offered].map((status) => [status, humanize(status)] as const);
  const field = choiceField('status', 'Status', options, { required: true });
  return { ...editor, fields: [...editor.fields, field as unknown as FieldOf<Input>] };
}

type FieldProps<Input, Item> = { editor: Editor<Input, Item>; field: string; onClose: Close };

function FieldCell<Input, Item extends object>({ editor, field: name, onClose }: FieldProps<Input, Item>) {
  const field = editor.fields.find((one) => one.name === name);
  const storageKey = cellKey(useMe(), editor.id, name);
  const [open, setOpen] = useState<OpenField<Item>>(
    () =>
      (field && readStored(storageKey, field, editor.item)) ?? {
        base: editor.item,
        value: field ? valueIn(field, editor.item) : '',
        isFocused: true,
      },
  );
  if (!field) return null;
  const change = (next: OpenField<Item> | undefined, isFocusInside = false) => {
    storeField(storageKey, field, next);
    if (next) setOpen(next);
    else onClose(isFocusInside);
  };
  return (
    <div className="cell-editor">
      <InlineEditor editor={editor} field={field} open={open} change={change} />
    </div>
  );
}
