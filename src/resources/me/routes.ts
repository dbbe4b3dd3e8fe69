import type { FastifyRequest } from 'fastify';
import { limits } from '../../core/schemas.ts';
import { burstOf, limitOf } from '../../http/auth/rate-limits.ts';
import type { App } from '../../http/fastify.ts';
import { sendWithContentEtag } from '../../http/response/resource.ts';
import { firstDayOfHistory } from '../history/start.ts';
import { getOrganization } from '../organization/queries.ts';
import { personalKeyRoutes } from './keys.ts';
import { Me } from './schema.ts';
import { accountRoutes, passkeyRoutes, passwordRoute } from './sign-in.ts';
import { workRoute } from './work.ts';

/** Who makes the request, and how a person signs in. */
export function meRoutes(app: App): void {
  app.get(
    '/v1/me',
    {
      config: { access: 'any' },
      schema: {
        operationId: 'getMe',
        summary: 'Get who you are, what you may do, your limits, and the current day',
        tags: ['service'],
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      const { user_id, key_id, name, scopes, project_ids, expires_at, session } = request.actor;
      const { time_zone, today } = request.moment;
      const rate_limit = limitOf(request.actor, app.config.rate_limit) || null;
      const {
        name: organizationName,
        first_day_of_week,
        comparison_days,
      } = await getOrganization(request.database.db, app.config.time_zone);
      const rate_burst = rate_limit && burstOf(rate_limit);
      return sendWithContentEtag(request, reply, {
        type: key_id === null ? 'person' : 'key',
        user_id,
        key_id,
        name,
        email: await emailOf(request, user_id),
        scopes,
        project_ids,
        expires_at,
        session: session && {
          id: session.id,
          way: session.way,
          created_at: session.created_at,
          expires_at: session.expires_at,
        },
        time_zone,
        today,
        history_from: await firstDayOfHistory(request),
        organization: { name: organizationName, first_day_of_week, comparison_days },
        limits: { rate_limit, rate_burst, ...limits },
      });
    },
  );

  workRoute(app);
  accountRoutes(app);
  passwordRoute(app);
  passkeyRoutes(app);
  personalKeyRoutes(app);
}

async function emailOf({ database: { db } }: FastifyRequest, user_id: string | null): Promise<string | null> {
  if (user_id === null) return null;
  const row = await db.selectFrom('people').select('email').where('user_id', '=', user_id).executeTakeFirst();
  return row?.email ?? null;
}
