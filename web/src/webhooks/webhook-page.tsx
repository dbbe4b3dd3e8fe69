import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Webhook, WebhookDelivery } from '../api/openapi.ts';
import { useRefresh, useWrite } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { DialogButton } from '../components/dialog.tsx';
import { eventLabel } from '../components/event-types.tsx';
import { History } from '../components/history.tsx';
import { Address } from '../components/item-link.tsx';
import { MarkdownText } from '../components/markdown-text.tsx';
import { toast } from '../components/toast.tsx';
import { formatTime, scopeLabel } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { useProjectKeys } from '../projects/queries.ts';
import { Deliveries, DeliveryDialog } from './deliveries.tsx';
import { shortUrl, statusOf, useMissingScopes, useWebhook, webhookPath } from './queries.ts';
import { Replay, RotateButton } from './webhook-actions.tsx';
import { EditWebhook } from './webhook-form.tsx';
import './webhooks.css';

/** One webhook: its state, its deliveries and its history. */
export function WebhookPage() {
  const { id = '' } = useParams();
  return (
    <LoadedPage query={useWebhook(id)}>
      {(webhook) => (
        <>
          <Head webhook={webhook} />
          <Notices webhook={webhook} />
          <div className="columns">
            <Deliveries webhook={webhook} />
            <div className="stack">
              <Details webhook={webhook} />
              <History subject={{ id, path: `/v1/webhooks/${id}` }} />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

function Head({ webhook }: { webhook: Webhook }) {
  const [tested, setTested] = useState<WebhookDelivery>();
  const refresh = useRefresh();
  const hasScope = useHasScope();
  const isEditable = useMissingScopes(webhook).length === 0;
  const path = webhookPath(webhook.id);
  const sendTest = async () => {
    setTested(await dataOrThrow(api.POST('/v1/webhooks/{id}/test', path)));
    await refresh();
  };
  const remove = () => dataOrThrow(api.DELETE('/v1/webhooks/{id}', { ...path, ...ifMatch(webhook) }));
  return (
    <Title
      title={shortUrl(webhook.url)}
      breadcrumbs={<Link href="/webhooks">Webhooks</Link>}
      summary={<Status status={statusOf(webhook)} />}
    >
      {hasScope('events.manage') && (
        <>
          {isEditable && (
            <>
              <ActionButton act={sendTest}>Send test</ActionButton>
              {webhook.status === 'enabled' && <StatusButton webhook={webhook} />}
              <DialogButton
                icon="edit"
                dialog={(onClose) => <EditWebhook webhook={webhook} onClose={onClose} />}
              >
                Edit
              </DialogButton>
            </>
          )}
          <DeleteButton name={shortUrl(webhook.url)} list="/webhooks" remove={remove}>
            Nothing more is sent, and the delivery log is deleted. This can't be undone.
          </DeleteButton>
        </>
      )}
      {tested && <DeliveryDialog webhook={webhook} delivery={tested} onClose={() => setTested(undefined)} />}
    </Title>
  );
}

/** Disables an enabled webhook, and the other way round. */
function StatusButton({ webhook }: { webhook: Webhook }) {
  const write = useWrite();
  const isEnabled = webhook.status === 'enabled';
  const change = async () => {
    const status = isEnabled ? ('disabled' as const) : ('enabled' as const);
    await write(
      api.PATCH('/v1/webhooks/{id}', { ...webhookPath(webhook.id), body: { status }, ...ifMatch(webhook) }),
    );
    toast(`${isEnabled ? 'Disabled' : 'Enabled'} ${shortUrl(webhook.url)}`);
  };
  return (
    <ActionButton small={!isEnabled} act={change}>
      {isEnabled ? 'Disable' : 'Enable'}
    </ActionButton>
  );
}

/** Why nothing is sent, or why that may happen soon. */
function Notices({ webhook }: { webhook: Webhook }) {
  const hasScope = useHasScope();
  const missing = useMissingScopes(webhook);
  const { status, disabled_reason, failing_since } = webhook;
  return (
    <div className="webhook-notices">
      {status === 'disabled' && (
        <div className="notice">
          <p>
            Disabled, so nothing is sent. {disabled_reason} When it is enabled again, it sends what happened
            in the meantime.
          </p>
          {hasScope('events.manage') && missing.length === 0 && <StatusButton webhook={webhook} />}
        </div>
      )}
      {status === 'enabled' && failing_since && (
        <p className="notice">
          Every attempt has failed since {formatTime(failing_since)}. After 5 days of failures the webhook is
          disabled. Open a failed delivery to see the response.
        </p>
      )}
      {missing.length > 0 && (
        <p className="notice">
          This webhook reads more than your key, so you can't change it or see its deliveries. Your key lacks{' '}
          {missing.join(', ')}.
        </p>
      )}
    </div>
  );
}

function Details({ webhook }: { webhook: Webhook }) {
  const hasScope = useHasScope();
  const projectKeyOf = useProjectKeys();
  const isEditable = useMissingScopes(webhook).length === 0 && hasScope('events.manage');
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          ['URL', <Address key="url" url={webhook.url} />],
          ['Events', webhook.types.map(eventLabel).join('\n')],
          ['Projects', webhook.project_ids?.map(projectKeyOf).join(', ') ?? 'All'],
          [
            'Description',
            webhook.description && <MarkdownText key="description" text={webhook.description} />,
          ],
          [
            'Scopes',
            <span key="scopes" title={webhook.scopes.join('\n')}>
              {webhook.scopes.map(scopeLabel).join(', ')}
            </span>,
          ],
          ['Created', formatTime(webhook.created_at)],
        ]}
      />
      {isEditable && (
        <div className="button-row">
          <RotateButton webhook={webhook} />
          <DialogButton small dialog={(onClose) => <Replay webhook={webhook} onClose={onClose} />}>
            Replay…
          </DialogButton>
        </div>
      )}
    </Card>
  );
}
