import { useEffect, useState } from 'react';

/** What was typed, once the typing pauses: one request a word, not one a letter. */
export function useDelayed<T>(value: T, milliseconds = 200): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return delayed;
}
