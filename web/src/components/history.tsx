import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import type { HistoryEntry } from '../api/openapi.ts';
import { formatNumber, formatTime, humanize } from '../format.ts';
import { Button } from './button.tsx';
import { Loaded } from './loading.tsx';

type HistoryResponse = { data?: { data: HistoryEntry[] }; error?: unknown; response: Response };

/** The changes of a resource, newest first. */
export function History({
  id,
  read,
}: {
  id: string;
  read: (client: typeof api) => Promise<HistoryResponse>;
}) {
  const query = useQuery({
    queryKey: ['history', id],
    queryFn: async () => (await dataOrThrow(read(api))).data.toReversed(),
  });
  const [isExpanded, setExpanded] = useState(false);
  return (
    <section className="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Loaded query={query}>
        {(entries) => (
          <>
            {entries.length === 0 && <p className="quiet">No changes yet</p>}
            <ol className="history">
              {entries.slice(0, isExpanded ? undefined : 12).map((entry) => (
                <li key={entry.id}>
                  <p>
                    <Entry {...entry} />
                    {entry.reason && <q dir="auto">{entry.reason}</q>}
                  </p>
                  <p className="quiet">
                    <time dateTime={entry.at}>{formatTime(entry.at)}</time> by <bdi>{entry.key_name}</bdi>
                  </p>
                </li>
              ))}
            </ol>
            {!isExpanded && entries.length > 12 && (
              <Button small plain onPress={() => setExpanded(true)}>
                Show all {formatNumber(entries.length)}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Entry({ field, from, to }: HistoryEntry) {
  if (['created', 'deleted', 'rotated', 'revoked'].includes(field)) return <strong>{humanize(field)}</strong>;
  return (
    <>
      <strong>{humanize(field)}</strong> <span className="value">{formatValue(from)}</span>
      <span className="visually-hidden"> to </span>
      <span aria-hidden="true"> → </span>
      <span className="value">{formatValue(to)}</span>{' '}
    </>
  );
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return /^[a-z]+(_[a-z]+)*$/.test(value) ? humanize(value) : value;
  return JSON.stringify(value);
}
