import { type ReactNode, useState } from 'react';
import { Button as AriaButton, DialogTrigger, Popover } from 'react-aria-components';
import { Button } from './button.tsx';
import { PrintedFilter } from './filters.tsx';
import { Icon } from './icon.tsx';

type Props = {
  label: string;
  /** The name of the selected item; undefined without a selection. */
  selected: string | undefined;
  onChange: (value: string | null) => void;
  /** The combo box that finds an item. */
  picker: (onSelect: (id: string) => void) => ReactNode;
};

/** A filter whose value is found by a search of the service. */
export function FilterPicker({ label, selected, onChange, picker }: Props) {
  const [isOpen, setOpen] = useState(false);
  const select = (value: string | null) => {
    setOpen(false);
    onChange(value);
  };
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className={selected === undefined ? 'filter' : 'filter set'}>
        {label}
        {selected !== undefined && <bdi className="filter-value">{selected}</bdi>}
        <Icon name="down" />
      </AriaButton>
      {selected !== undefined && (
        <PrintedFilter>
          {label}: {selected}
        </PrintedFilter>
      )}
      <Popover className="popover filter-picker filter-options" placement="bottom start" aria-label={label}>
        {picker((id) => id && select(id))}
        {selected !== undefined && (
          <Button small plain onPress={() => select(null)}>
            Clear
          </Button>
        )}
      </Popover>
    </DialogTrigger>
  );
}
