import type { Result } from './palette-search.ts';

/** What can be done with the selected rows, the focused row or the item that the page shows. */
export function findPageActions(path: string): Result[] {
  const isItem = /^\/\w+\//.test(path);
  const actions = [...(isItem ? itemButtons() : []), ...document.querySelectorAll<HTMLElement>(bulkButtons)];
  return [...actions, ...fieldButtons()].map((button, index) => ({
    path: `action-${index}`,
    name: labelOf(button),
    // An item has many fields.
    isOnSearch: !actions.includes(button),
    act: () => button.click(),
  }));
}

const bulkButtons = '#main .bulk-bar button:enabled:not(.plain)';

/** The buttons at the top of an item's page and those that change its status. Lists have theirs among the commands. */
const itemButtons = () => [
  ...document.querySelectorAll<HTMLElement>(
    '#main .title .actions button:enabled, #main [aria-labelledby="status"] .button-row button:enabled',
  ),
];

/** The buttons that edit one field of the focused row or of the item on the page. */
function fieldButtons(): HTMLElement[] {
  const row = document.activeElement?.closest('#main tbody tr');
  const fields = '.inline-edit, .assign-button, .cell-edit';
  return [
    ...(row?.querySelectorAll<HTMLElement>(fields) ?? []),
    ...document.querySelectorAll<HTMLElement>(`#main :is(${fields}):not(tr *, .bulk-bar *)`),
  ];
}

const isAssigning = (button: HTMLElement) =>
  button.matches('.assign-button, [data-field=owner_user_id], [data-field=assignee_user_id]');

function labelOf(button: HTMLElement): string {
  const name = button.ariaLabel ?? button.textContent;
  return isAssigning(button) && !name.startsWith('Assign') ? `Assign… (${name.replace(/^Edit /, '')})` : name;
}
