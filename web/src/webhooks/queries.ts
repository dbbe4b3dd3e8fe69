import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { paths, Webhook, WebhookDelivery } from '../api/openapi.ts';
import type { Paging } from '../api/pages.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import type { Filters } from '../components/filters.tsx';

type DeliveryQuery = NonNullable<paths['/v1/webhooks/{id}/deliveries']['get']['parameters']['query']>;

export const useWebhooks = () =>
  useQuery({
    queryKey: ['webhooks'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/webhooks'))).data.toReversed(),
  });

export const useWebhook = (id: string) =>
  useQuery({
    queryKey: ['webhook', id],
    queryFn: () => dataOrThrow(api.GET('/v1/webhooks/{id}', webhookPath(id))),
  });

export const webhookPath = (id: string) => ({ params: { path: { id } } });

const readDeliveries = (id: string, query: DeliveryQuery) =>
  dataOrThrow(api.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query } }));

/** Deliveries change without an event, so the log is read again while an attempt is due. */
export const useDeliveries = (id: string, filters: Filters) =>
  useRows(
    ['deliveries', id, filters],
    (paging: Paging) => readDeliveries(id, { ...(filters as DeliveryQuery), ...paging }),
    { limit: 50, isCounted: false, isChanging: isDue },
  );

const isDue = ({ next_attempt_at }: WebhookDelivery) =>
  next_attempt_at !== null && Date.parse(next_attempt_at) < Date.now() + 60_000;

/** Whether the key in use can change the webhook and read its deliveries: it must have all scopes of the webhook. */
export function useMissingScopes({ scopes }: Webhook) {
  const hasScope = useHasScope();
  return scopes.filter((scope) => !hasScope(scope));
}

/** A webhook that is enabled but whose receiver fails is neither of the two for its users. */
export const statusOf = ({ status, failing_since }: Webhook) =>
  status === 'enabled' && failing_since !== null ? 'failing' : status;

/** `https://example.com/hooks/muster` → `example.com/hooks/muster`. */
export const shortUrl = (url: string) => url.replace(/^https?:\/\//, '');
