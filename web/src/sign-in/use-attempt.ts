import { useRef, useState } from 'react';

/** Runs one attempt at a time, and keeps its error until the next one. */
export function useAttempt() {
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  // State changes only with the next render; Enter can be pressed twice before it.
  const isRunning = useRef(false);
  const run = async (act: () => Promise<unknown>): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setError(undefined);
    setBusy(true);
    try {
      await act();
    } catch (reason) {
      setError(reason as Error);
    }
    isRunning.current = false;
    setBusy(false);
  };
  return { error, isBusy, run };
}
