import {
  Button as AriaButton,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import './columns.css';

type Props = {
  options: readonly { name: string; header: string; label?: string }[];
  shown: readonly string[];
  onChange: (names: string[]) => void;
  /** Nothing to reset without it. */
  onReset: (() => void) | undefined;
};

/** Chooses the columns of a list. It stays open, so that several can be chosen. */
export const ColumnsMenu = ({ options, shown, onChange, onReset }: Props) => (
  <MenuTrigger>
    <AriaButton className="filter columns-button no-print">
      Columns
      <Icon name="down" />
    </AriaButton>
    <Popover className="popover" placement="bottom end">
      <Menu className="options" aria-label="Columns" onAction={(action) => action === resetId && onReset?.()}>
        <MenuSection
          aria-label="Shown columns"
          selectionMode="multiple"
          shouldCloseOnSelect={false}
          selectedKeys={shown}
          onSelectionChange={(names) =>
            onChange(names === 'all' ? options.map(({ name }) => name) : [...names].map(String))
          }
        >
          {options.map(({ name, header, label = header }) => (
            <MenuItem key={name} id={name} className="option column" textValue={label}>
              <span className="tick" aria-hidden="true">
                <Icon name="check" />
              </span>
              {label}
            </MenuItem>
          ))}
        </MenuSection>
        <Separator className="separator" />
        <MenuItem id={resetId} className="option" isDisabled={!onReset}>
          Reset columns
        </MenuItem>
      </Menu>
    </Popover>
  </MenuTrigger>
);

/** Not the name of a column. */
const resetId = 'reset columns';
