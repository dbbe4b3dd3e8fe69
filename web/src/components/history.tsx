import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api } from '../api/client.ts';
import type { HistoryEntry } from '../api/openapi.ts';
import { number, time, words } from '../format.ts';
import { Button } from './button.tsx';
import { Loaded } from './loading.tsx';

type Answer = { data?: { data: HistoryEntry[] }; error?: unknown; response: Response };

/** What changed, newest first: who, when, from what to what. */
export function History({ of, read }: { of: string; read: (client: typeof api) => Promise<Answer> }) {
  const query = useQuery({
    queryKey: ['history', of],
    queryFn: async () => (await answerOf(read(api))).data.toReversed(),
  });
  const [isWhole, setWhole] = useState(false);
  return (
    <section className="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Loaded query={query}>
        {(entries) => (
          <>
            {entries.length === 0 && <p className="quiet">No change yet.</p>}
            <ol className="history">
              {entries.slice(0, isWhole ? undefined : 12).map((entry) => (
                <li key={entry.id}>
                  <p>
                    <Entry {...entry} />
                    {entry.reason && <q dir="auto">{entry.reason}</q>}
                  </p>
                  <p className="quiet">
                    <time dateTime={entry.at}>{time(entry.at)}</time> with <bdi>{entry.key_name}</bdi>
                  </p>
                </li>
              ))}
            </ol>
            {!isWhole && entries.length > 12 && (
              <Button small plain onPress={() => setWhole(true)}>
                Show all {number(entries.length)}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Entry({ field, from, to }: HistoryEntry) {
  if (['created', 'deleted', 'rotated', 'revoked'].includes(field)) return <strong>{words(field)}</strong>;
  return (
    <>
      <strong>{words(field)}</strong> <span className="value">{shown(from)}</span>
      <span className="visually-hidden"> to </span>
      <span aria-hidden="true"> → </span>
      <span className="value">{shown(to)}</span>{' '}
    </>
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return /^[a-z]+(_[a-z]+)*$/.test(value) ? words(value) : value;
  return JSON.stringify(value);
}
