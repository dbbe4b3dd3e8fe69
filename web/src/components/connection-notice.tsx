import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLostAt } from '../api/connection.ts';
import { useSession } from '../api/session.ts';
import { formatClock } from '../format.ts';

/** Reports that the service is unreachable; the pages show cached data. Loads it again once the service responds. */
export function ConnectionNotice() {
  const lostAt = useLostAt();
  const session = useSession();
  useReloadOnReturn(lostAt !== undefined);
  if (lostAt === undefined || session.state !== 'signedIn') return null;
  return <p className="notice">Can't reach the service. Showing data from {formatClock(lostAt)}.</p>;
}

function useReloadOnReturn(isLost: boolean): void {
  const client = useQueryClient();
  const wasLost = useRef(isLost);
  useEffect(() => {
    if (wasLost.current && !isLost) void client.invalidateQueries();
    wasLost.current = isLost;
  }, [isLost, client]);
}
