import type { ReactNode } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from '../components/button.tsx';
import type { BulkItem } from './kinds.ts';

/** What can be done with a row, besides assigning it. */
export type RowAction<Row> = {
  label: string;
  isOffered?: (row: Row) => boolean;
} & (
  | { dialog: (row: Row, onClose: () => void) => ReactNode; act?: never }
  | { act: (row: Row) => Promise<unknown>; dialog?: never }
);

type Props = { item: BulkItem; actions: readonly { label: string; run: () => void }[] };

/** The most used actions of a row, for a phone: its columns and their buttons have no room there. */
export const RowMenu = ({ item, actions }: Props) =>
  actions.length > 0 && (
    <MenuTrigger>
      <Button small plain icon="more" aria-label={`Actions for ${item.key}`} />
      <Popover className="popover" placement="bottom end">
        <Menu className="options" aria-label={`Actions for ${item.key}`}>
          {actions.map(({ label, run }) => (
            <MenuItem key={label} className="option" onAction={run}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
