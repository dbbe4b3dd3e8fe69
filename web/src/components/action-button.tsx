import { useRef, useState } from 'react';
import { endSessionOn401 } from '../api/session.ts';
import { Button, type ButtonProps } from './button.tsx';
import { errorLine } from './error-text.ts';
import { toast } from './toast.tsx';
import { useConflict } from './use-conflict.ts';

const showError = (error: Error) => toast(errorLine(error));

/** Runs an action and reports its error. When the item was out of date, loads it again, so that a retry can succeed. */
export function useAction(report = showError) {
  const explain = useConflict();
  const [isBusy, setBusy] = useState(false);
  // State changes only with the next render; a button can be pressed twice before it.
  const isRunning = useRef(false);
  const run = async (act: () => Promise<unknown> | undefined) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    try {
      await act();
    } catch (error) {
      endSessionOn401(error);
      report(await explain(error));
    }
    isRunning.current = false;
    setBusy(false);
  };
  return { isBusy, run };
}

type Props = ButtonProps & { act: () => Promise<unknown> | undefined };

/** A button that shows that its action is running, and reports its error. */
export function ActionButton({ act, ...button }: Props) {
  const { isBusy, run } = useAction();
  return <Button {...button} isPending={isBusy} onPress={() => run(act)} />;
}
