import { limits } from '../../core/schemas.ts';
import { burstOf, limitOf } from '../../http/auth/rate-limits.ts';
import type { App } from '../../http/fastify.ts';
import { sendWithContentEtag } from '../../http/response/resource.ts';
import { Me } from './schema.ts';

export function meRoutes(app: App): void {
  app.get(
    '/v1/me',
    {
      config: { access: 'any key' },
      schema: {
        operationId: 'getMe',
        summary: 'Get the key in use, its scopes and limits, and the current day',
        tags: ['service'],
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const { id: key_id, name, scopes, project_ids, expires_at } = request.actor;
      const { time_zone, today } = request.moment;
      const rate_limit = limitOf(request.actor, app.config.rate_limit) || null;
      const rate_burst = rate_limit && burstOf(rate_limit);
      return sendWithContentEtag(request, reply, {
        key_id,
        name,
        scopes,
        project_ids,
        expires_at,
        time_zone,
        today,
        limits: { rate_limit, rate_burst, ...limits },
      });
    },
  );
}
