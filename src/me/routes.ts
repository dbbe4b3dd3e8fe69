import type { App } from '../http/fastify.ts';
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
      return sendTagged(request, reply, { key_id, name, scopes, project_ids, expires_at, limits });
    },
  );
}
