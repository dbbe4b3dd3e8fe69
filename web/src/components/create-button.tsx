import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { useOpenParam } from './use-open-param.ts';
import { useShortcut } from './use-shortcut.ts';

type Props = { children: ReactNode; dialog: (onClose: () => void) => ReactNode };

/** The main button of a list. Its dialog also opens with `c` and, for links, with `?new=true`. */
export function CreateButton({ children, dialog }: Props) {
  const [isOpen, setOpen] = useState(false);
  useOpenParam('new', setOpen);
  useShortcut('c', () => {
    setOpen(true);
    return true;
  });
  return (
    <>
      <Button primary icon="plus" onPress={() => setOpen(true)}>
        {children}
      </Button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}
