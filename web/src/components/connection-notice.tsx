import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { useLostAt } from '../api/connection.ts';
import { useSession } from '../api/session.ts';
import { formatClock } from '../format.ts';

/** Reports that the service is unreachable; pages that were loaded before show cached data. Loads it again once the service responds. */
export function ConnectionNotice() {
  const lostAt = useLostAt();
  const session = useSession();
  const isLoaded = useIsLoaded();
  useReloadOnReturn(lostAt !== undefined);
  if (lostAt === undefined || session.state !== 'signedIn') return null;
  return (
    <p className="notice">
      Can't reach the service. {isLoaded ? `Showing data from ${formatClock(lostAt)}.` : 'Trying again…'}
    </p>
  );
}

/** Whether all that the page asks for has been loaded before. Otherwise parts of it are empty, not old. */
function useIsLoaded(): boolean {
  const cache = useQueryClient().getQueryCache();
  return useSyncExternalStore(
    (onChange) => cache.subscribe(onChange),
    () => cache.findAll({ type: 'active' }).every(({ state }) => state.data !== undefined),
  );
}

function useReloadOnReturn(isLost: boolean): void {
  const client = useQueryClient();
  const wasLost = useRef(isLost);
  useEffect(() => {
    if (wasLost.current && !isLost) void client.invalidateQueries();
    wasLost.current = isLost;
  }, [isLost, client]);
}
