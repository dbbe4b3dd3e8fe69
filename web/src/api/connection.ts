import { useSyncExternalStore } from 'react';
import { basePath } from './client.ts';

/** A shorter interruption is not reported. */
const checkIntervalMs = 5_000;

/** Since when the service can't be reached. */
let lostAt: number | undefined;
let isChecking = false;
const listeners = new Set<() => void>();

function setLostAt(next: number | undefined): void {
  lostAt = next;
  for (const listener of listeners) listener();
}

/** For a service that is down, a proxy responds with a status of 500 or more, or nothing responds at all. */
export const isReachable = () =>
  fetch(`${basePath}/livez`, { cache: 'no-store', signal: AbortSignal.timeout(checkIntervalMs) }).then(
    ({ status }) => status < 500,
    () => false,
  );

/** Called when a request or the event stream fails. Checks again and again until the service responds. */
export async function checkConnection(): Promise<void> {
  if (isChecking) return;
  isChecking = true;
  const since = Date.now();
  do {
    await new Promise((resolve) => setTimeout(resolve, checkIntervalMs));
    setLostAt((await isReachable()) ? undefined : since);
  } while (lostAt !== undefined);
  isChecking = false;
}

addEventListener('offline', checkConnection);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Since when the service can't be reached; undefined while it responds. */
export const useLostAt = () => useSyncExternalStore(subscribe, () => lostAt);
