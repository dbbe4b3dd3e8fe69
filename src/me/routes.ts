import type { App } from '../http/fastify.ts';
import { burstOf, limitOf } from '../http/rate-limits.ts';
import { sendTagged } from '../http/resource.ts';
import { limits } from '../schemas.ts';
import { Me } from './schema.ts';

export function meRoutes(app: App): void {
  app.get(
    '/v1/me',
    {
      config: { access: 'any key' },
      schema: {
        operationId: 'getMe',
        summary: 'What this key is, and what it may do',
        tags: ['service'],
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const { id: key_id, name, scopes, project_ids, expires_at } = request.actor;
      const rate_limit = limitOf(request.actor, app.config.rate_limit) || null;
      const rate_burst = rate_limit && burstOf(rate_limit);
      return sendTagged(request, reply, {
        key_id,
        name,
        scopes,
        project_ids,
        expires_at,
        limits: { rate_limit, rate_burst, ...limits },
      });
    },
  );
}
