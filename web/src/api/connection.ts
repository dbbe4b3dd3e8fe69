import { basePath } from './client.ts';
import { createStore } from './store.ts';

/** A shorter interruption is not reported. */
const checkIntervalMs = 5_000;

const lostAt = createStore<number | undefined>(undefined);
let isChecking = false;

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
    lostAt.set((await isReachable()) ? undefined : since);
  } while (lostAt.get() !== undefined);
  isChecking = false;
}

addEventListener('offline', checkConnection);

/** Since when the service can't be reached; undefined while it responds. */
export const useLostAt = lostAt.use;
