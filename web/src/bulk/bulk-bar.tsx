import { useState } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401, useHasScope } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { errorLine } from '../components/error-text.ts';
import { Form } from '../components/form.tsx';
import type { Field, FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import { formatNumber, humanize, pluralize } from '../format.ts';
import { changeAll, type Failure, failuresOf, maxItems, restore } from './change.ts';
import { Failures } from './failures.tsx';
import { type BulkItem, type BulkKind, type Changes, nouns, responsible } from './kinds.ts';
import { offeredStatuses, statusFields, useIsAllowed } from './statuses.ts';
import './bulk.css';

type Props = {
  kind: BulkKind;
  items: readonly BulkItem[];
  /** Whether there is only the form that assigns the items, without a selection. */
  isAssigning?: boolean;
  clear: () => void;
  deselect: (ids: readonly string[]) => void;
};

/** A form that asks for what a change needs. */
type Question = {
  title: string;
  fields: Field[];
  changes: (values: Changes) => Changes;
  /** A change that has its own button, so that a blank field never removes a value: the words before and after it. */
  extra?: { action: string; done: string; changes: Changes };
};

function assignQuestion(kind: BulkKind): Question {
  const { label, hint, group: groupLabel, changes, missing, remove } = responsible[kind];
  const [action, done] = remove;
  return {
    title: `Set ${label.toLowerCase()}`,
    fields: [
      { name: 'person', label, kind: 'person', ...(hint && { hint }) },
      ...(groupLabel ? [{ name: 'group', label: groupLabel, kind: 'group' } as const] : []),
    ],
    changes: ({ person = null, group = null }) => {
      if (person === null && group === null) throw new Error(missing);
      return changes(person as string | null, group as string | null);
    },
    extra: { action, done, changes: changes(null, null) },
  };
}

/** What can be done with the selected rows. */
export function BulkBar({ kind, items, isAssigning = false, clear, deselect }: Props) {
  const hasScope = useHasScope();
  const refresh = useRefresh();
  const isAllowed = useIsAllowed(kind);
  const [question, setQuestion] = useState(isAssigning ? assignQuestion(kind) : undefined);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failures, setFailures] = useState<{ listed: Failure[]; count: number }>();
  const counted = pluralize(items.length, nouns[kind]);
  const isTooMany = items.length > maxItems;
  const isDisabled = isBusy || isTooMany;

  const close = () => {
    clear();
    // The bar takes the focus with it.
    if (!isAssigning) document.querySelector<HTMLElement>('#main th input')?.focus({ preventScroll: true });
  };
  /** Returns whether the service took the change; otherwise the reasons are shown. */
  const apply = async (changes: Changes, done = 'Updated'): Promise<boolean> => {
    setBusy(true);
    try {
      const changed = await changeAll(kind, items, changes);
      const canUndo = changed.every(({ previous }) =>
        previous.status === undefined ? true : isAllowed(String(changes.status), String(previous.status)),
      );
      const undo = async () => {
        try {
          await restore(kind, changed);
        } finally {
          await refresh();
        }
      };
      await refresh();
      if (changed.length === 0) toast('Nothing to change');
      else toast(`${done} ${pluralize(changed.length, nouns[kind])}`, canUndo ? undo : undefined);
      close();
      return true;
    } catch (error) {
      const refused = failuresOf(error);
      if (!refused) throw error;
      setFailures(refused);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const applyNow = (changes: Changes, done?: string) =>
    apply(changes, done).catch((error: Error) => {
      endSessionOn401(error);
      toast(errorLine(error));
    });
  const setStatus = (status: string) => {
    const fields = statusFields(kind, status, items);
    if (fields.length === 0) return void applyNow({ status });
    setQuestion({
      title: `Set status to ${humanize(status)}`,
      fields,
      changes: (values) => ({ ...values, status }),
    });
  };
  const setDue = () =>
    setQuestion({
      title: 'Set due date',
      fields: [{ name: 'due_on', label: 'Due', kind: 'day', hint: 'Leave blank to remove the due date.' }],
      changes: ({ due_on = null }) => ({ due_on }),
    });
  useShortcut('s', () => isDisabled || setMenuOpen(true));
  useShortcut('d', () => isDisabled || setDue());
  useShortcut('Escape', close);

  const reasons = failures && (
    <Failures
      kind={kind}
      {...failures}
      onClose={() => setFailures(undefined)}
      onDeselect={() => {
        setFailures(undefined);
        deselect(failures.listed.map(({ id }) => id));
      }}
    />
  );
  const closeQuestion = () => (isAssigning ? clear() : setQuestion(undefined));
  const extra = question?.extra;
  const form = question && (
    <Dialog title={question.title} onClose={closeQuestion}>
      <Form<Changes>
        fields={question.fields as FieldOf<Changes>[]}
        action={`Update ${counted}`}
        submit={async (values) => {
          // The form stays open with what was entered.
          if (!(await apply(question.changes(values)))) throw new Error('Nothing was changed.');
        }}
        onClose={closeQuestion}
        extra={
          extra && (
            <Button plain isDisabled={isBusy} onPress={() => applyNow(extra.changes, extra.done)}>
              {extra.action} {counted}
            </Button>
          )
        }
      />
      {reasons}
    </Dialog>
  );
  if (isAssigning) return form;
  return (
    <section className="bulk-bar no-print" aria-label="Selected rows">
      <p role="status">
        {isBusy ? `Updating ${counted}…` : `${formatNumber(items.length)} selected`}
        {isTooMany && <span className="quiet"> (up to {formatNumber(maxItems)} at once)</span>}
      </p>
      {hasScope('personnel.read') && (
        <Button
          small
          className="assign-button"
          isDisabled={isDisabled}
          onPress={() => setQuestion(assignQuestion(kind))}
        >
          Assign…
        </Button>
      )}
      <MenuTrigger isOpen={isMenuOpen} onOpenChange={setMenuOpen}>
        <Button small isDisabled={isDisabled}>
          Set status…
        </Button>
        <Popover className="popover" placement="top start">
          <Menu className="options" aria-label="Status" onAction={(status) => setStatus(String(status))}>
            {offeredStatuses(kind, items, isAllowed).map((status) => (
              <MenuItem key={status} id={status} className="option">
                {humanize(status)}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <Button small isDisabled={isDisabled} onPress={setDue}>
        Set due date…
      </Button>
      <Button small plain isDisabled={isBusy} onPress={close}>
        Clear
      </Button>
      {isBusy && <progress aria-label={`Updating ${counted}`} />}
      {form}
      {!question && reasons}
    </section>
  );
}
