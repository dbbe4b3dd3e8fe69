import { useEffect } from 'react';
import { useSearchParams } from 'wouter';

/** Opens a dialog when a link to the page has the parameter. */
export function useOpenParam(name: string, setOpen: (isOpen: boolean) => void): void {
  const [params, setParams] = useSearchParams();
  useEffect(() => {
    if (!params.has(name)) return;
    setOpen(true);
    // Going back must not open the dialog again.
    const rest = new URLSearchParams(params);
    rest.delete(name);
    setParams(rest, { replace: true });
  }, [name, params, setParams, setOpen]);
}
