import type { WebhookWithSecret } from '../api/openapi.ts';
import { Secret } from '../components/secret.tsx';
import { shortUrl } from './queries.ts';

type Props = { webhook: WebhookWithSecret; onClose: () => void };

export const WebhookSecret = ({ webhook, onClose }: Props) => (
  <Secret title={`New secret: ${shortUrl(webhook.url)}`} secret={webhook.secret} onClose={onClose}>
    Copy this secret now; you won't see it again. Your receiver verifies signatures with it.
  </Secret>
);
