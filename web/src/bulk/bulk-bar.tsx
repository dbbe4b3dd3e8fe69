import { useState } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { ItemList } from '../api/items.ts';
import { riskStrategyValues } from '../api/openapi.ts';
import { useHasScope, useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { choiceField } from '../components/form-values.ts';
import { useShortcut } from '../components/use-shortcut.ts';
import { enumOptions, formatNumber, humanize, pluralize } from '../format.ts';
import { AcceptedByYou } from '../risks/accepted-by-you.tsx';
import { useCategories } from '../risks/queries.ts';
import { nameKeys } from './change.ts';
import { assignForm, ChangeDialog, type ChangeForm } from './change-dialog.tsx';
import { Failures } from './failures.tsx';
import { type BulkItem, nouns } from './kinds.ts';
import { offeredStatuses, statusFields, useIsAllowed } from './statuses.ts';
import { useBulkChange } from './use-bulk-change.ts';
import { maxItems } from './use-selection.ts';
import './bulk.css';

// Loaded together with the bar.
export { AssignDialog } from './change-dialog.tsx';

type Props = {
  kind: ItemList;
  items: readonly BulkItem[];
  /** The keys of selected items that have left the list. */
  gone: readonly string[];
  /** Whether selected items are being read again. */
  isReading: boolean;
  /** The number of all rows, if those that are loaded are selected and there are more. */
  total: number | null;
  selectFirst: (count: number) => void;
  clear: () => void;
  deselect: (ids: readonly string[]) => void;
};

const dueForm: ChangeForm = {
  title: 'Set due date',
  fields: [{ name: 'due_on', label: 'Due', kind: 'day', hint: 'Leave blank to remove the due date.' }],
  changes: ({ due_on = null }) => ({ due_on }),
};

/** The other fields of risks. */
const riskForms = (categories: readonly string[]): Record<string, ChangeForm> => ({
  Category: {
    title: 'Set category',
    fields: [
      {
        name: 'category',
        label: 'Category',
        kind: 'line',
        suggestions: categories,
        hint: 'Leave blank to remove the category.',
      },
    ],
    changes: ({ category = null }) => ({ category }),
  },
  'Review date': {
    title: 'Set review date',
    fields: [
      { name: 'review_on', label: 'Review', kind: 'day', hint: 'Leave blank to remove the review date.' },
    ],
    changes: ({ review_on = null }) => ({ review_on }),
  },
  Strategy: {
    title: 'Set strategy',
    fields: [choiceField('strategy', 'Strategy', enumOptions(riskStrategyValues))],
    changes: ({ strategy = null }) => ({ strategy }),
  },
});

/** What can be done with the selected rows. */
export function BulkBar({ kind, items, gone, isReading, total, selectFirst, clear, deselect }: Props) {
  const hasScope = useHasScope();
  const isPerson = useMe().user_id !== null;
  const isAllowed = useIsAllowed(kind);
  const [form, setForm] = useState<ChangeForm>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const close = () => {
    clear();
    // The bar takes the focus with it.
    document.querySelector<HTMLElement>('#main th input')?.focus({ preventScroll: true });
  };
  const change = useBulkChange(kind, items, close, gone);
  const { isBusy } = change;
  const counted = pluralize(items.length, nouns[kind]);
  const ofTotal = total === null ? '' : ` of ${formatNumber(total)}`;
  const isTooMany = items.length > maxItems;
  const isDisabled = isBusy || isTooMany || isReading || items.length === 0;

  const setStatus = (status: string) => {
    const fields = statusFields(kind, status, items, isPerson);
    if (fields.length === 0) return void change.applyNow({ status });
    setForm({
      title: `Set status to ${humanize(status)}`,
      fields,
      ...(status === 'accepted' && { note: <AcceptedByYou /> }),
      changes: (values) => ({ ...values, status }),
    });
  };
  useShortcut('s', () => {
    if (!isDisabled) setMenuOpen(true);
    return true;
  });
  useShortcut('d', () => {
    if (!isDisabled) setForm(dueForm);
    return true;
  });
  useShortcut('Escape', () => {
    close();
    return true;
  });

  return (
    <section className="bulk-bar no-print" aria-label="Selected rows">
      <p role="status">
        {isBusy ? `Updating ${counted}…` : `${formatNumber(items.length)}${ofTotal} selected`}
        {gone.length > 0 && !isBusy && <span className="quiet"> ({nameKeys(gone)} left the list)</span>}
        {isTooMany && <span className="quiet"> (up to {formatNumber(maxItems)} at once)</span>}
      </p>
      {total !== null && items.length < maxItems && (
        <Button small plain isDisabled={isBusy} onPress={() => selectFirst(maxItems)}>
          {total > maxItems
            ? `Select the first ${formatNumber(maxItems)}`
            : `Select all ${formatNumber(total)}`}
        </Button>
      )}
      {hasScope('personnel.read') && (
        <Button
          small
          className="assign-button"
          isDisabled={isDisabled}
          onPress={() => setForm(assignForm(kind, items.length))}
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
      <Button small isDisabled={isDisabled} onPress={() => setForm(dueForm)}>
        Set due date…
      </Button>
      {kind === 'risks' && <MoreFields isDisabled={isDisabled} setForm={setForm} />}
      <Button small plain isDisabled={isBusy} onPress={close}>
        Clear
      </Button>
      {isBusy && <progress aria-label={`Updating ${counted}`} />}
      {form ? (
        <ChangeDialog
          kind={kind}
          items={items}
          form={form}
          change={change}
          deselect={deselect}
          onClose={() => setForm(undefined)}
        />
      ) : (
        <Failures kind={kind} change={change} deselect={deselect} />
      )}
    </section>
  );
}

type MoreProps = { isDisabled: boolean; setForm: (form: ChangeForm | undefined) => void };

function MoreFields({ isDisabled, setForm }: MoreProps) {
  const { data = [] } = useCategories();
  const forms = riskForms(data.map(({ name }) => name));
  return (
    <MenuTrigger>
      <Button small isDisabled={isDisabled}>
        Set…
      </Button>
      <Popover className="popover" placement="top start">
        <Menu className="options" aria-label="Set" onAction={(name) => setForm(forms[String(name)])}>
          {Object.keys(forms).map((name) => (
            <MenuItem key={name} id={name} className="option">
              {name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
