const listeners = new Set<() => void>();

/** Calls the listener when this or another tab has stored something. Returns what ends it. */
export function followStorage(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

/** Tells this tab, which gets no event of its own, that something was stored. */
export function announceStored(): void {
  for (const listener of listeners) listener();
}
