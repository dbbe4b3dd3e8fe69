import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { resolveFilters } from '../filters.ts';
import { listRoute } from '../list-route.ts';
import { personnelList } from '../personnel/queries.ts';
import { Person } from '../personnel/schema.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { groupImport } from './import.ts';
import { addMember, addMembers, removeMember } from './members.ts';
import { createGroup, deleteGroup, getGroup, groupList, groupSorts, updateGroup } from './queries.ts';
import {
  Group,
  GroupInput,
  GroupPatch,
  groupFilters,
  groupIncludes,
  ListedGroup,
  MembersAdded,
  MembersInput,
  memberFilters,
} from './schema.ts';

export function groupRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'group',
    tag: 'groups',
    access: { read: 'personnel.read', manage: 'personnel.manage' },
    collection: '/v1/groups',
    params: Strict({ id: Id('group') }),
    resource: Group,
    input: GroupInput,
    patch: GroupPatch,
    summaries: {
      create: 'Add a group',
      import: 'Import groups and their members from a file',
      delete: 'Delete a group',
    },
    descriptions: {
      delete:
        'Removes all members. A group that owns risks or issues, or has subgroups, cannot be deleted. `in_use` counts and ' +
        'names risks and issues only for keys with `projects.read`.',
    },
    deleteWorkload: 'long',
    get: (db, { id }) => getGroup(db, id),
    create: (db, _, input, change) => createGroup(db, input, change),
    update: updateGroup,
    delete: deleteGroup,
    importable: () => groupImport(),
    listing: {
      summary: 'List groups',
      row: ListedGroup,
      filters: { ...groupFilters, ...groupIncludes },
      sorts: groupSorts,
      list: async ({ database, actor }, { filters, sort }) =>
        groupList(await resolveFilters({ database, actor }, filters), sort),
    },
  });

  listRoute(app, {
    url: '/v1/groups/:id/members',
    access: 'personnel.read',
    operationId: 'listMembers',
    summary: 'List the members of a group by name',
    tag: 'groups',
    params: Strict({ id: Id('group') }),
    row: Person,
    filters: memberFilters,
    list: async ({ params, database, moment }, { filters }) => {
      const { id } = await getGroup(database.db, params.id);
      return personnelList({ group_id: id, ...filters }, moment);
    },
  });

  app.post(
    '/v1/groups/:id/members',
    {
      config: { access: 'personnel.manage', errors: ['idempotency_mismatch', 'storage_full'] },
      schema: {
        operationId: 'addMembers',
        summary: 'Add up to 500 members to a group',
        description: 'Adds all of them or none. Existing members are ignored.',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        body: MembersInput,
        response: { 200: MembersAdded },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) =>
        done(await addMembers(db, request.params.id, request.body.user_ids, request.change)),
      ),
  );

  for (const { method, run, ...schema } of memberActions) {
    app.route({
      method,
      url: '/v1/groups/:id/members/:user_id',
      config: { access: 'personnel.manage', errors: ['storage_full'] },
      schema: {
        ...schema,
        tags: ['groups'],
        params: Strict({ id: Id('group'), user_id: Id('person') }),
        response: { 204: NoContent },
      },
      handler: async (request, reply) => {
        const { id, user_id } = request.params;
        await request.database.write(async (db) => {
          await run(db, id, user_id, request.change);
        });
        return reply.code(204).send();
      },
    });
  }
}

const memberActions = [
  {
    method: 'PUT',
    operationId: 'addMember',
    summary: 'Add a member to a group',
    description: 'Adding an existing member changes nothing.',
    run: addMember,
  },
  {
    method: 'DELETE',
    operationId: 'removeMember',
    summary: 'Remove a member from a group',
    description: 'Removing a person who is not a member changes nothing.',
    run: removeMember,
  },
] as const;
