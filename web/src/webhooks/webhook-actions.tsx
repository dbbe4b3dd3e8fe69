import { useState } from 'react';
import { api, ifMatch } from '../api/client.ts';
import type { Webhook, WebhookReplay, WebhookWithSecret } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { Confirm, Dialog, DialogButton } from '../components/dialog.tsx';
import { Form } from '../components/form.tsx';
import type { FieldOf } from '../components/form-values.ts';
import { toast } from '../components/toast.tsx';
import { useOpened } from '../components/use-conflict.ts';
import { shortUrl, webhookPath } from './queries.ts';
import { WebhookSecret } from './webhook-secret.tsx';

/** Creates a new secret and shows it once. */
export function RotateButton({ webhook }: { webhook: Webhook }) {
  const [rotated, setRotated] = useState<WebhookWithSecret>();
  return (
    <>
      <DialogButton
        small
        dialog={(onClose) => <RotateDialog webhook={webhook} onRotated={setRotated} onClose={onClose} />}
      >
        Rotate secret…
      </DialogButton>
      {rotated && <WebhookSecret webhook={rotated} onClose={() => setRotated(undefined)} />}
    </>
  );
}

type RotateProps = {
  webhook: Webhook;
  onRotated: (webhook: WebhookWithSecret) => void;
  onClose: () => void;
};

function RotateDialog({ webhook: live, onRotated, onClose }: RotateProps) {
  const { item: webhook } = useOpened(live);
  const write = useWrite();
  const rotate = async () =>
    onRotated(
      await write(api.POST('/v1/webhooks/{id}/rotate', { ...webhookPath(webhook.id), ...ifMatch(webhook) })),
    );
  return (
    <Confirm title="Rotate secret?" action="Rotate" act={rotate} onClose={onClose}>
      <p>Creates a new secret, shown once. For 24 hours, messages are signed with both secrets.</p>
    </Confirm>
  );
}

const replayFields: FieldOf<WebhookReplay>[] = [
  {
    name: 'after',
    label: 'After sequence number',
    kind: 'number',
    required: true,
    min: 0,
    hint: 'Each delivery shows the sequence number of its event. 0 = all stored events.',
  },
];

/** Sends stored events again. */
export function Replay({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const write = useWrite();
  const replay = async (body: WebhookReplay) => {
    await write(api.POST('/v1/webhooks/{id}/replay', { ...webhookPath(webhook.id), body }));
    toast(`Replaying events to ${shortUrl(webhook.url)}`);
  };
  return (
    <Dialog title="Replay events" onClose={onClose}>
      <Form fields={replayFields} action="Replay" submit={replay} onClose={onClose}>
        <p>
          Sends the events after a sequence number again, in order, then continues with new ones. The receiver
          gets them with the same IDs as before.
        </p>
      </Form>
    </Dialog>
  );
}
