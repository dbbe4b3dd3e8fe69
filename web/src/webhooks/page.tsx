import { useState } from 'react';
import { Link } from 'wouter';
import type { Webhook, WebhookWithSecret } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Status } from '../components/badges.tsx';
import { CreateButton } from '../components/create-button.tsx';
import { Empty } from '../components/empty.tsx';
import { eventLabel } from '../components/event-types.tsx';
import { Loaded } from '../components/loading.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Title } from '../layout/title.tsx';
import { useProjectKeys } from '../projects/queries.ts';
import { shortUrl, statusOf, useWebhooks } from './queries.ts';
import { NewWebhook } from './webhook-form.tsx';
import { WebhookSecret } from './webhook-secret.tsx';
import './webhooks.css';

/** The webhooks and whether their receivers work. */
export function WebhooksPage() {
  const [created, setCreated] = useState<WebhookWithSecret>();
  const hasScope = useHasScope();
  const projectKeyOf = useProjectKeys();
  const query = useWebhooks();
  return (
    <>
      <Title title="Webhooks">
        {hasScope('events.manage') && (
          <CreateButton dialog={(onClose) => <NewWebhook onClose={onClose} onCreated={setCreated} />}>
            Create webhook
          </CreateButton>
        )}
      </Title>
      <Loaded query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Empty title="No webhooks yet">
              A webhook sends events to a URL as they happen, such as new issues to a chat. Create a webhook,
              then send a test to it.
            </Empty>
          ) : (
            <Table
              label="Webhooks"
              columns={[...columns, projects(projectKeyOf)]}
              rows={webhooks}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {created && <WebhookSecret webhook={created} onClose={() => setCreated(undefined)} />}
    </>
  );
}

const columns: readonly Column<Webhook>[] = [
  {
    name: 'url',
    header: 'URL',
    cell: ({ id, url, description }) => (
      <>
        <Link className="row-link" href={`/webhooks/${id}`} title={url}>
          <bdi>{shortUrl(url)}</bdi>
        </Link>
        {description && <span className="secondary-line">{description}</span>}
      </>
    ),
  },
  {
    name: 'events',
    header: 'Events',
    width: 20,
    from: 'tablet',
    cell: ({ types }) => {
      const labels = types.map(eventLabel);
      return <span title={labels.join('\n')}>{labels.join(', ')}</span>;
    },
  },
  {
    name: 'status',
    header: 'Status',
    width: 6.5,
    cell: (webhook) => <Status status={statusOf(webhook)} />,
  },
];

const projects = (projectKeyOf: (id: string) => string): Column<Webhook> => ({
  name: 'projects',
  header: 'Projects',
  width: 12,
  from: 'desktop',
  cell: ({ project_ids }) => project_ids?.map(projectKeyOf).join(', ') ?? <span className="quiet">All</span>,
});
