import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import { subjectOf, subjectScopes } from '../api/event-types.ts';
import {
  eventTypeValues,
  type Webhook,
  type WebhookInput,
  type WebhookPatch,
  type WebhookWithSecret,
} from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { type Scope, useHasScope, useIsLimited } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { eventLabel } from '../components/event-types.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useProjectKeys } from '../projects/queries.ts';
import { shortUrl, webhookPath } from './queries.ts';

/** `canRead` is about the scopes of the webhook, which are those of the key that creates it. */
function useFields(canRead: (scope: Scope) => boolean): FieldOf<WebhookInput>[] {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  const types = Object.entries(subjectScopes).flatMap(([subject, scope]) =>
    canRead(scope) ? eventTypeValues.filter((type) => subjectOf(type) === subject) : [],
  );
  return [
    {
      name: 'url',
      label: 'URL',
      kind: 'line',
      required: true,
      hint: 'Receives a POST request for each event. Starts with https://.',
    },
    {
      name: 'types',
      label: 'Events',
      kind: 'event-types',
      required: true,
      options: types.map((type) => [type, eventLabel(type)] as const),
    },
    ...(hasScope('projects.read') ? [projectsField(isLimited)] : []),
    { name: 'description', label: 'Description', kind: 'text' },
  ];
}

const projectsField = (isLimited: boolean): FieldOf<WebhookInput> => ({
  name: 'project_ids',
  label: 'Limited to projects',
  kind: 'projects',
  hint: isLimited
    ? 'Your key is limited to some projects. Choose from those, or leave blank for all of them.'
    : 'Events of other projects are not sent. Leave blank to send events of all projects.',
});

type NewProps = { onClose: () => void; onCreated: (webhook: WebhookWithSecret) => void };

export function NewWebhook({ onClose, onCreated }: NewProps) {
  const write = useWrite();
  const fields = useFields(useHasScope());
  const create = async (body: WebhookInput) => onCreated(await write(api.POST('/v1/webhooks', { body })));
  return (
    <Dialog title="Create webhook" onClose={onClose}>
      <Form fields={fields} action="Create webhook" submit={create} onClose={onClose} />
    </Dialog>
  );
}

export function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const write = useWrite();
  const projectKeyOf = useProjectKeys();
  const fields = useFields((scope) => webhook.scopes.includes(scope));
  const path = webhookPath(webhook.id);
  /** The webhook as the form shows it: with the keys of projects. */
  const toForm = (one: Webhook) => ({ ...one, project_ids: one.project_ids?.map(projectKeyOf) ?? null });
  const save = async (body: WebhookPatch, base: { version: number }) => {
    const saved = await write(api.PATCH('/v1/webhooks/{id}', { ...path, body, ...ifMatch(base) }));
    toast(`Saved ${shortUrl(saved.url)}`);
  };
  return (
    <Dialog title="Edit webhook" onClose={onClose}>
      <Form
        fields={fields}
        initial={toForm(webhook)}
        action="Save"
        submit={save}
        reload={async () => toForm(await dataOrThrow(api.GET('/v1/webhooks/{id}', path)))}
        onClose={onClose}
      />
    </Dialog>
  );
}
