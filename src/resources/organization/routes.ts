import type { App } from '../../http/fastify.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { listRoute } from '../list-route.ts';
import { getOrganization, lockOrganization, organizationId, updateOrganization } from './queries.ts';
import { Organization, OrganizationPatch } from './schema.ts';

const tags = ['organization'];

export function organizationRoutes(app: App): void {
  const { time_zone } = app.config;

  app.get(
    '/v1/organization',
    {
      config: { access: 'any' },
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the settings of the organization',
        tags,
        response: { 200: Organization },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await getOrganization(request.database.db, time_zone)),
  );

  app.patch(
    '/v1/organization',
    {
      config: {
        access: 'projects.manage',
        requiresUnrestrictedKey: 'All projects share these settings.',
        errors: ['stale', 'storage_full'],
      },
      schema: {
        operationId: 'updateOrganization',
        summary: 'Change the settings of the organization',
        description:
          'A change of the time zone takes effect with the next request on every instance. It decides what day it is, and ' +
          'where past days begin and end.',
        tags,
        body: OrganizationPatch,
        response: { 200: Organization },
      },
    },
    async (request, reply) => {
      const changed = await request.database.write(async (db) => {
        await lockOrganization(db);
        const current = await getOrganization(db, time_zone);
        assertIfMatch(request, current);
        return updateOrganization(db, current, request.body, request.change);
      });
      return sendResource(request, reply, changed);
    },
  );

  listRoute(app, {
    url: '/v1/organization/history',
    access: 'projects.read',
    operationId: 'listOrganizationHistory',
    summary: 'List the changes of the settings of the organization, oldest first',
    tag: 'organization',
    row: HistoryEntry,
    filters: {},
    list: () => historyList(organizationId),
  });
}
