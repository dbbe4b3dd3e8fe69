import { useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { useShortcut } from '../components/use-shortcut.ts';

const shortcuts: [keys: string[], action: string][] = [
  [['Ctrl', 'K'], 'Search or run a command'],
  [['/'], 'Search this list'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row'],
  [['Shift', '↓'], 'Select more rows'],
  [['a'], 'Assign the selected rows, the row or the issue'],
  [['s'], 'Set the status of the selected rows'],
  [['d'], 'Set the due date of the selected rows'],
  [['c'], 'Create'],
  [['e'], 'Edit the focused field'],
  [['Ctrl', 'Enter'], 'Send the comment'],
  [['?'], 'Show shortcuts'],
];

/** The shortcuts that work on every page, and the dialog that lists them. */
export function Shortcuts({ openPalette }: { openPalette: () => void }) {
  const [isOpen, setOpen] = useState(false);
  useShortcut('?', () => setOpen(true));
  useShortcut('/', () => {
    const search = document.querySelector<HTMLInputElement>('#main .filters input');
    if (search) search.focus();
    else openPalette();
  });
  useShortcut('j', () => focusRow(1));
  useShortcut('k', () => focusRow(-1));
  useShortcut('a', () => {
    const row =
      document.querySelector('.bulk-bar') ??
      document.activeElement?.closest('#main tr') ??
      document.getElementById('main');
    row?.querySelector<HTMLElement>('.assign-button')?.click();
  });
  useShortcut('x', () => {
    document.activeElement?.closest('#main tbody tr')?.querySelector<HTMLElement>('.select input')?.click();
  });
  if (!isOpen) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
      <div className="dialog-body">
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
      </div>
    </Dialog>
  );
}

/** Moves the focus to the next or the previous row of the list, or to its first row. */
function focusRow(step: number): void {
  const links = [
    ...document.querySelectorAll<HTMLElement>('#main .row-link, #main .lines a, #main .ranking a'),
  ];
  const row = document.activeElement?.closest('tr, li');
  const current = links.findIndex((link) => row?.contains(link));
  const next = links[current === -1 ? 0 : current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
