import { type ReactNode, useState } from 'react';
import type { ItemList } from '../api/items.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { Field, FieldOf } from '../components/form-values.ts';
import type { Names } from '../components/picked-names.ts';
import { pluralize } from '../format.ts';
import { Failures } from './failures.tsx';
import { type BulkItem, type Changes, nouns, responsible } from './kinds.ts';
import { type BulkChange, type Done, useBulkChange } from './use-bulk-change.ts';

/** Asks for the values of a change. */
export type ChangeForm = {
  title: string;
  /** The button; `Update 12 risks` without it. */
  action?: string;
  fields: Field[];
  note?: ReactNode;
  changes: (values: Changes) => Changes;
  /** The words around the number of items when it is done. */
  done?: (values: Changes, names: Names) => Done;
  /** Has its own button, so that a blank field never removes a value. */
  removal?: { action: string; done: Done; changes: Changes };
};

export function assignForm(kind: ItemList, count: number): ChangeForm {
  const { label, hint, group: groupLabel, changes, missing, remove } = responsible[kind];
  const [clear, cleared] = remove;
  return {
    title: `Assign ${pluralize(count, nouns[kind])}`,
    action: 'Assign',
    fields: [
      { name: 'person', label, kind: 'person', ...(hint && { hint }) },
      ...(groupLabel ? [{ name: 'group', label: groupLabel, kind: 'group' } as const] : []),
    ],
    changes: ({ person = null, group = null }) => {
      if (person === null && group === null) throw new Error(missing);
      return changes(person as string | null, group as string | null);
    },
    done: ({ person, group }, names) => {
      const name = names[String(person ?? group)];
      return name ? ['Assigned', `to ${name}`] : ['Assigned'];
    },
    removal: { action: clear, done: [cleared], changes: changes(null, null) },
  };
}

type AssignProps = { kind: ItemList; items: readonly BulkItem[]; onClose: () => void };

/** Assigns items without a selection. */
export function AssignDialog({ kind, items, onClose }: AssignProps) {
  const change = useBulkChange(kind, items, onClose);
  return (
    <ChangeDialog
      kind={kind}
      items={items}
      form={assignForm(kind, items.length)}
      change={change}
      deselect={onClose}
      onClose={onClose}
    />
  );
}

type Props = AssignProps & {
  form: ChangeForm;
  change: BulkChange;
  deselect: (ids: readonly string[]) => void;
};

export function ChangeDialog({ kind, items, form, change, deselect, onClose }: Props) {
  const { title, action, fields, note, changes, done, removal } = form;
  // The list can be read again while the dialog is open.
  const [held, setHeld] = useState(items);
  const counted = pluralize(held.length, nouns[kind]);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form<Changes>
        fields={fields as FieldOf<Changes>[]}
        action={action ?? `Update ${counted}`}
        submit={async (values, _, names) => {
          // The form stays open with what was entered.
          if (!(await change.apply(changes(values), done?.(values, names), held)))
            throw new Error('Nothing was changed.');
        }}
        onClose={onClose}
        extra={
          removal && (
            <Button
              plain
              isDisabled={change.isBusy}
              onPress={() => change.applyNow(removal.changes, removal.done, held)}
            >
              {removal.action}
            </Button>
          )
        }
      >
        {note}
      </Form>
      <Failures
        kind={kind}
        change={change}
        deselect={(ids) => {
          setHeld(held.filter(({ id }) => !ids.includes(id)));
          deselect(ids);
        }}
      />
    </Dialog>
  );
}
