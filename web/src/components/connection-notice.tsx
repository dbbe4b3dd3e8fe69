import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLostAt } from '../api/connection.ts';
import { useSession } from '../api/session.ts';
import { formatClock } from '../format.ts';

/** Says that pages show what they had loaded, and loads it again once the service responds. */
export function ConnectionNotice() {
  const lostAt = useLostAt();
  const session = useSession();
  const client = useQueryClient();
  useEffect(() => {
    if (lostAt !== undefined) return () => void client.invalidateQueries();
  }, [lostAt, client]);
  if (lostAt === undefined || session.state !== 'signedIn') return null;
  return <p className="notice">Can't reach the service. Showing data from {formatClock(lostAt)}.</p>;
}
