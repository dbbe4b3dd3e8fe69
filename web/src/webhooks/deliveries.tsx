import { useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import type { Webhook, WebhookDelivery } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Facts } from '../components/card.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { eventLabel } from '../components/event-types.tsx';
import { FilterMenu, NoMatches, useFilters } from '../components/filters.tsx';
import { List } from '../components/list.tsx';
import { CellButton, type Column } from '../components/table.tsx';
import { toast } from '../components/toast.tsx';
import { enumOptions, formatNumber, formatTime } from '../format.ts';
import { useDeliveries, useMissingScopes } from './queries.ts';

const statuses = enumOptions(['pending', 'delivered', 'failed']);

/** The delivery log, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const isReadable = useMissingScopes(webhook).length === 0;
  return (
    <section aria-labelledby="deliveries">
      {isReadable ? <Log webhook={webhook} /> : <h2 id="deliveries">Deliveries</h2>}
    </section>
  );
}

function Log({ webhook }: { webhook: Webhook }) {
  const { filters, isFiltered, bind, clear } = useFilters(['status']);
  const [open, setOpen] = useState<WebhookDelivery>();
  const deliveries = useDeliveries(webhook.id, filters);
  const hasScope = useHasScope();
  return (
    <>
      <header className="title">
        <h2 id="deliveries">Deliveries</h2>
        <FilterMenu label="Status" options={statuses} {...bind('status')} />
      </header>
      <List
        label="Deliveries"
        list={deliveries}
        columns={[
          eventColumn(setOpen),
          ...columns,
          ...(hasScope('events.manage') ? [redeliverColumn(webhook)] : []),
        ]}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <NoMatches title="No deliveries match these filters" clear={clear} />
          ) : (
            <Empty title="No deliveries yet">
              Events appear here as they are sent. Send a test to see whether the receiver works.
            </Empty>
          )
        }
      />
      {open && <DeliveryDialog webhook={webhook} delivery={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}

const eventColumn = (open: (delivery: WebhookDelivery) => void): Column<WebhookDelivery> => ({
  name: 'event',
  header: 'Event',
  cell: (delivery) => (
    <>
      <CellButton label={`${eventLabel(delivery.event_type)}, details`} onClick={() => open(delivery)}>
        {eventLabel(delivery.event_type)}
      </CellButton>
      <span className="secondary-line">{resultOf(delivery)}</span>
    </>
  ),
});

const columns: readonly Column<WebhookDelivery>[] = [
  {
    name: 'status',
    header: 'Status',
    width: 5.8,
    cell: ({ status }) => <Status status={status} />,
  },
  {
    name: 'response',
    header: 'Response',
    from: 'tablet',
    cell: (delivery) => <span title={resultOf(delivery)}>{resultOf(delivery)}</span>,
  },
  {
    name: 'attempts',
    header: 'Attempts',
    width: 5,
    end: true,
    from: 'wide',
    cell: ({ attempts }) => formatNumber(attempts),
  },
  {
    name: 'time',
    header: 'Created',
    width: 10.4,
    from: 'laptop',
    cell: ({ created_at }) => <time dateTime={created_at}>{formatTime(created_at)}</time>,
  },
];

/** The last response in short: `200 in 35 ms`, or why there was none. */
function resultOf({ response_status, latency_ms, error }: WebhookDelivery): string {
  if (response_status === null) return error ?? '';
  return latency_ms === null ? `${response_status}` : `${response_status} in ${formatNumber(latency_ms)} ms`;
}

const redeliverColumn = (webhook: Webhook): Column<WebhookDelivery> => ({
  name: 'actions',
  header: 'Actions',
  width: 6.4,
  end: true,
  cell: (delivery) => <Redeliver small webhook={webhook} delivery={delivery} />,
});

type DeliveryProps = { webhook: Webhook; delivery: WebhookDelivery };

/** A pending delivery is repeated by itself. */
function Redeliver({
  webhook,
  delivery,
  small = false,
  onDone,
}: DeliveryProps & { small?: boolean; onDone?: () => void }) {
  const refresh = useRefresh();
  if (delivery.status === 'pending') return null;
  const path = { id: webhook.id, delivery_id: delivery.id };
  const redeliver = async () => {
    await dataOrThrow(api.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver', { params: { path } }));
    onDone?.();
    await refresh();
    toast(`Redelivering ${eventLabel(delivery.event_type)}`);
  };
  return (
    <ActionButton small={small} aria-label={`Redeliver ${eventLabel(delivery.event_type)}`} act={redeliver}>
      Redeliver
    </ActionButton>
  );
}

/** Everything about one delivery, with the receiver's response. */
export function DeliveryDialog({ webhook, delivery, onClose }: DeliveryProps & { onClose: () => void }) {
  const hasScope = useHasScope();
  const time = (value: string | null) => value && formatTime(value);
  return (
    <Dialog title={eventLabel(delivery.event_type)} onClose={onClose}>
      <div className="dialog-body">
        <Facts
          facts={[
            ['Status', <Status key="status" status={delivery.status} />],
            ['Response', delivery.response_status],
            ['Error', delivery.error],
            ['Latency', delivery.latency_ms !== null && `${formatNumber(delivery.latency_ms)} ms`],
            ['Attempts', formatNumber(delivery.attempts)],
            ['Last attempt', time(delivery.last_attempt_at)],
            ['Next attempt', time(delivery.next_attempt_at)],
            ['Event ID', delivery.event_id],
            ['Sequence number', delivery.sequence !== null && String(delivery.sequence)],
          ]}
        />
        {delivery.response_excerpt && (
          <>
            <h3>Response body</h3>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
            <pre className="excerpt" tabIndex={0} dir="auto">
              {delivery.response_excerpt}
            </pre>
          </>
        )}
      </div>
      <footer>
        {hasScope('events.manage') && <Redeliver webhook={webhook} delivery={delivery} onDone={onClose} />}
        <Button primary onPress={onClose}>
          Close
        </Button>
      </footer>
    </Dialog>
  );
}
