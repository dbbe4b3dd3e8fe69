import { ApiError } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';

/**
 * Handles the rejection of a write because the item has changed since it was read: loads it again, so that a retry sends
 * the new version. Returns the error to show.
 */
export function useConflict() {
  const refresh = useRefresh();
  return async (error: unknown): Promise<Error> => {
    if (!(error instanceof ApiError) || error.status !== 412) return error as Error;
    await refresh();
    return new Error('Someone else changed this. Check it, then try again.');
  };
}
