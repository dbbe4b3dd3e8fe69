import { Dialog } from '../components/dialog.tsx';
import { useUndoLast } from '../components/toast.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import { createCommands, useIsAvailable } from './navigation.ts';

const shortcuts: [keys: string[], action: string][] = [
  [['Ctrl', 'K'], 'Search or run a command'],
  [['/'], 'Search this list'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['Space'], 'Open or close the preview of the row'],
  [['Shift', 'J'], 'Next item of the list that the page was opened from'],
  [['Shift', 'K'], 'Previous item of that list'],
  [['→'], 'Next cell of the row that can be edited; Enter edits it'],
  [['Ctrl', 'V'], 'On a cell: paste a column of a spreadsheet into it and the rows below'],
  [['x'], 'Select the row'],
  [['Shift', '↓'], 'Select more rows'],
  [['a'], 'Assign the selected rows, the focused row or the item on the page'],
  [['s'], 'Set the status of the selected rows'],
  [['d'], 'Set the due date of the selected rows'],
  [['c'], 'Create what the page lists, or choose what to create'],
  [['e'], 'Edit the focused field'],
  [['Ctrl', 'Enter'], 'Send the comment, or submit the dialog'],
  [['Ctrl', 'Z'], 'Undo the last change on this page'],
  [['a'], 'In the preview: choose the owner or assignee, the last one first'],
  [['o'], 'In the preview: assign to the last chosen person'],
  [['r'], 'In the preview: rate'],
  [['1–7', '1–7'], 'In the preview of a risk: rate its probability, then its impact'],
  [['c'], 'In the preview: comment'],
  [['Ctrl', 'Shift', 'Enter'], 'In the preview: send the comment and show the next row'],
  [['?'], 'Show shortcuts'],
];

type DialogName = 'palette' | 'create' | 'shortcuts';

/** The shortcuts that work on every page. Those of the page itself come before them. */
export function useShortcuts(open: (dialog: DialogName) => void): void {
  const isAvailable = useIsAvailable();
  const frame = document.body;
  const canCreate = createCommands.some(isAvailable);
  const show = (dialog: DialogName) => {
    open(dialog);
    return true;
  };
  const create = () => {
    // Nothing is created while the page shows an earlier day.
    if (!canCreate || isPast()) return false;
    return show('create');
  };
  const undoLast = useUndoLast();
  useShortcut('?', () => show('shortcuts'), frame);
  useShortcut('Ctrl+z', undoLast, frame);
  useShortcut('/', () => focusSearch() || show('palette'), frame);
  useShortcut('c', create, frame);
  useShortcut('j', () => focusRow(1), frame);
  useShortcut('k', () => focusRow(-1), frame);
  useShortcut('a', () => click(findAssignButton()), frame);
  useShortcut('x', () => click(focusedRow()?.querySelector('.select input')), frame);
}

const isPast = () => new URLSearchParams(location.search).has('as_of');

const focusedRow = () => document.activeElement?.closest('#main tbody tr');

/** Of the selected rows, of the focused row, or of the item that the page shows. */
const findAssignButton = () =>
  document.querySelector('.bulk-bar .assign-button') ??
  focusedRow()?.querySelector('.assign-button') ??
  document.querySelector(
    '#main :is(.assign-button, [data-field=assignee_user_id], [data-field=owner_user_id]):not(tr *)',
  );

function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('#main .filters input');
  search?.focus();
  return search !== null;
}

/** Returns whether there is something to click. */
function click(element: Element | null | undefined): boolean {
  if (element instanceof HTMLElement) element.click();
  return element instanceof HTMLElement;
}

export const ShortcutList = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
    <section className="dialog-body" aria-label="All shortcuts" tabIndex={0}>
      <dl className="facts">
        {shortcuts.map(([keys, action]) => (
          <div key={action} className="fact">
            <dt className="keys">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </section>
  </Dialog>
);

/** Moves the focus to the next or the previous row of the list, or to its first row. */
function focusRow(step: number): boolean {
  const names = [
    ...document.querySelectorAll<HTMLElement>(
      '#main :is(.row-link, .cell-name), #main :is(.lines, .ranking) a',
    ),
  ];
  const row = document.activeElement?.closest('tr, li, [role=row]');
  const current = names.findIndex((name) => row?.contains(name));
  const next = names[current === -1 ? 0 : current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return names.length > 0;
}
