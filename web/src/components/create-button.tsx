import { type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Button } from './button.tsx';
import { useShortcut } from './use-shortcut.ts';

type Props = { children: ReactNode; dialog: (onClose: () => void) => ReactNode };

/** The main button of a list. Its dialog also opens with `c` and, for links, with `?new=true`. */
export function CreateButton({ children, dialog }: Props) {
  const [params, setParams] = useSearchParams();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!params.has('new')) return;
    setOpen(true);
    // Going back must not open the dialog again.
    const rest = new URLSearchParams(params);
    rest.delete('new');
    setParams(rest, { replace: true });
  }, [params, setParams]);
  useShortcut('c', () => setOpen(true));
  return (
    <>
      <Button primary icon="plus" onPress={() => setOpen(true)}>
        {children}
      </Button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}
